//! Runs one suite of socket tests on both servers, and once more on Tokio with one thread.

#![expect(
    clippy::unwrap_used,
    reason = "what fails in the harness fails the test"
)]

#[cfg(feature = "explorer")]
mod explorer;
#[cfg(feature = "metrics")]
mod exposition;
mod harness;
mod held;
mod large;
mod later;
mod lifecycle;
mod peers;
mod pipelines;
mod pubsub;
#[cfg(feature = "metrics")]
mod scrapes;
#[cfg(feature = "scripts")]
mod scripts;
mod slow;
mod storm;
mod together;

/// Makes each function a test for each kind of server in this build.
macro_rules! on_both_flavours {
    ($module:ident: $($name:ident),+ $(,)?) => {
        mod $module {
            #[cfg(feature = "tokio")]
            mod tokio {
                $(#[test] fn $name() { crate::$module::$name(crate::harness::Kind::TOKIO); })+
            }
            #[cfg(feature = "tokio")]
            mod tokio_alone {
                $(#[test] fn $name() { crate::$module::$name(crate::harness::Kind::TOKIO_ALONE); })+
            }
            #[cfg(feature = "mio")]
            mod mio {
                $(#[test] fn $name() { crate::$module::$name(crate::harness::Kind::MIO); })+
            }
        }
    };
}

mod run {
    on_both_flavours! { pipelines:
        request_sent_byte_by_byte_is_answered,
        hundred_thousand_pipelined_commands_are_answered_in_order,
        small_turns_leave_no_request_unanswered,
        reply_larger_than_the_socket_buffer_arrives_whole,
        large_value_arrives_whole_in_small_reads,
        binary_protocol_is_served_on_the_same_port,
        unix_socket_serves_the_same_commands,
    }
    #[cfg(feature = "scripts")]
    on_both_flavours! { scripts:
        other_keys_are_served_while_a_script_runs,
        request_for_a_key_of_a_script_waits_and_then_gets_busy,
        script_that_has_written_cannot_be_killed_but_ends_with_the_server,
        script_that_has_not_written_is_ended_by_the_time_limit,
        scripts_may_only_read_while_changes_cannot_be_kept,
        connections_ready_together_are_served_while_one_runs_a_script,
    }
    on_both_flavours! { large:
        values_of_every_size_round_trip,
        every_write_command_accepts_large_values,
        value_sent_in_small_pieces_arrives_whole,
        unfinished_value_is_dropped,
        client_list_counts_the_bytes_of_an_unfinished_value,
    }
    on_both_flavours! { later:
        transcripts_equal_those_of_a_session_in_memory,
        shutdown_loses_no_pending_reply,
        closed_connection_cancels_its_calls,
        stalled_listener_loses_only_its_own_connection,
    }
    on_both_flavours! { held:
        reply_to_a_change_arrives_after_it_is_kept,
        reader_waits_for_what_it_is_shown_and_for_nothing_else,
        pipelined_replies_arrive_in_order,
        served_waiter_and_its_writer_wait_for_the_change,
        messages_follow_held_replies,
        transaction_is_held_whole,
        closing_connections_get_held_replies_first,
        thousand_connections_wait_together,
        shutdown_waits_for_held_replies,
    }
    on_both_flavours! { storm:
        replies_keep_their_order_under_concurrent_answers_and_disconnects,
        panic_outside_a_handler_ends_only_its_connection,
    }
    on_both_flavours! { slow:
        requests_after_a_long_command_are_answered_once_it_ends,
        shutdown_waits_no_longer_than_its_grace_time,
        second_shutdown_request_does_not_wait_for_a_command,
    }
    #[cfg(feature = "tokio")]
    mod slow_with_several_threads {
        #[test]
        fn others_are_served_while_a_command_runs() {
            crate::slow::others_are_served_while_a_command_runs(crate::harness::Kind::TOKIO);
        }
    }
    on_both_flavours! { together:
        connections_ready_together_get_their_own_replies,
        panic_in_looking_ahead_ends_only_its_connection,
    }
    on_both_flavours! { peers:
        half_closed_peer_gets_all_replies_and_then_the_end,
        server_does_not_read_from_a_peer_that_does_not_read,
        protocol_error_is_answered_before_the_end,
        peer_that_ends_within_a_request_is_closed,
        idle_peer_is_closed_after_the_timeout,
        killed_peer_is_closed,
        killed_peer_is_closed_before_client_kill_replies,
        killed_peer_that_does_not_read_is_closed,
        client_pause_delays_writes_until_unpause,
        client_pause_ends_after_its_time,
        paced_writers_are_answered_once_the_gate_opens,
        others_are_served_while_one_peer_keeps_sending,
    }
    on_both_flavours! { pubsub:
        message_reaches_an_idle_subscriber,
        stalled_subscriber_is_closed_and_delays_no_one,
    }
    #[cfg(feature = "metrics")]
    on_both_flavours! { scrapes:
        metrics_are_scraped_while_load_runs,
        only_get_of_the_metrics_path_is_answered,
    }
    #[cfg(feature = "explorer")]
    on_both_flavours! { explorer:
        traffic_is_shown_frame_by_frame,
        large_frames_are_left_out_and_the_binary_protocol_is_marked,
        only_this_machine_and_the_page_itself_are_admitted,
        without_a_tap_the_page_shows_nothing_of_the_server,
        viewers_that_do_not_read_slow_no_client_and_are_disconnected,
        viewers_are_limited_and_disconnected_at_the_end,
    }
    on_both_flavours! { lifecycle:
        connection_above_maxclients_is_refused,
        thousand_idle_connections_do_not_disturb_others,
        shutdown_answers_arrived_requests,
        shutdown_cuts_a_peer_that_does_not_read,
        second_shutdown_request_does_not_wait,
        shutdown_command_stops_the_server,
    }
}
