//! Both servers over real sockets: one suite, run once per flavour, and once more for Tokio with one thread.

#![expect(
    clippy::unwrap_used,
    reason = "what fails in the harness fails the test"
)]

#[cfg(feature = "explorer")]
mod explorer;
#[cfg(feature = "metrics")]
mod exposition;
mod harness;
mod large;
mod later;
mod lifecycle;
mod peers;
mod pipelines;
mod pubsub;
#[cfg(feature = "metrics")]
mod scrapes;
mod slow;
mod storm;
mod together;

/// Makes a test of each function for each kind of server in this build.
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
        bytes_that_arrive_one_by_one_are_answered,
        a_hundred_thousand_commands_in_one_go_are_answered_in_order,
        turns_of_a_few_bytes_leave_nothing_unanswered,
        a_reply_larger_than_the_socket_buffer_arrives_whole,
        a_large_value_arrives_whole_in_small_reads,
        the_binary_protocol_is_served_on_the_same_port,
        a_unix_socket_serves_the_same,
    }
    on_both_flavours! { large:
        values_of_every_size_come_back,
        every_writer_takes_large_values,
        a_value_that_trickles_in_is_whole,
        a_value_that_is_not_sent_to_its_end_is_forgotten,
        what_arrived_of_a_value_is_listed,
    }
    on_both_flavours! { later:
        transcripts_are_those_of_a_session,
        stopping_loses_no_owed_reply,
        a_client_that_goes_cancels_what_it_waits_for,
        one_stalled_listener_costs_its_own_connection_alone,
    }
    on_both_flavours! { storm:
        replies_keep_their_order_whoever_answers_and_whoever_leaves,
        a_defect_outside_a_handler_costs_its_own_connection_alone,
    }
    on_both_flavours! { slow:
        those_behind_a_long_command_are_answered_once_it_ends,
        stopping_waits_no_longer_than_it_was_told_to,
        a_second_request_to_stop_does_not_wait_for_a_command,
    }
    #[cfg(feature = "tokio")]
    mod slow_with_several_threads {
        #[test]
        fn others_are_served_while_a_command_runs() {
            crate::slow::others_are_served_while_a_command_runs(crate::harness::Kind::TOKIO);
        }
    }
    on_both_flavours! { together:
        those_who_ask_at_once_are_answered_each_for_itself,
        a_defect_in_looking_ahead_costs_its_own_connection_alone,
    }
    on_both_flavours! { peers:
        a_half_closed_peer_gets_all_its_answers_and_then_the_end,
        a_peer_that_does_not_read_is_not_read_from,
        a_protocol_error_is_answered_before_the_end,
        a_peer_that_ends_in_the_middle_of_a_request_is_closed,
        an_idle_peer_is_closed_after_the_timeout,
        a_killed_peer_is_closed,
        a_killed_peer_is_closed_before_its_killer_is_answered,
        a_killed_peer_that_does_not_read_is_closed,
        a_pause_holds_writes_back_until_it_is_lifted,
        a_pause_ends_by_itself,
        others_are_served_while_one_sends_without_end,
    }
    on_both_flavours! { pubsub:
        a_message_reaches_a_silent_subscriber,
        a_stalled_subscriber_is_closed_and_delays_nobody,
    }
    #[cfg(feature = "metrics")]
    on_both_flavours! { scrapes:
        numbers_are_scraped_while_load_runs,
        other_requests_are_answered_as_http_has_it,
    }
    #[cfg(feature = "explorer")]
    on_both_flavours! { explorer:
        traffic_is_shown_frame_by_frame,
        what_is_too_large_is_left_out_and_the_binary_protocol_is_told,
        only_this_machine_and_the_page_itself_are_let_in,
        without_a_tap_there_is_a_page_and_nothing_of_the_server,
        those_who_do_not_look_slow_nobody_and_are_sent_away,
        few_look_on_at_once_and_all_are_sent_away_at_the_end,
    }
    on_both_flavours! { lifecycle:
        a_connection_past_maxclients_is_told_so,
        a_thousand_idle_connections_do_not_disturb,
        a_shutdown_answers_what_has_arrived,
        a_shutdown_cuts_a_peer_that_does_not_read,
        a_second_request_to_stop_does_not_wait,
        the_shutdown_command_stops_the_server,
    }
}
