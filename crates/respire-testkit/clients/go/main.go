// A session of go-redis. Usage: session PORT PROTOCOL
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func expect(what string, err error, got, expected any) {
	if err != nil {
		fail("%s: %v", what, err)
	}
	if !reflect.DeepEqual(got, expected) {
		fail("%s: expected %#v, got %#v", what, expected, got)
	}
}

func expectError(what string, err error, text string) {
	if err == nil || !strings.Contains(err.Error(), text) {
		fail("%s: expected an error with %q, got %v", what, text, err)
	}
}

func connect() *redis.Client {
	protocol, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fail("the protocol is 2 or 3, not %s", os.Args[2])
	}
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol})
}

func stringsAndBits(c *redis.Client) {
	ok, err := c.Set(ctx, "s", "value", 0).Result()
	expect("SET", err, ok, "OK")
	got, err := c.Get(ctx, "s").Result()
	expect("GET", err, got, "value")
	if err := c.Get(ctx, "missing").Err(); !errors.Is(err, redis.Nil) {
		fail("GET of nothing: %v", err)
	}
	set, err := c.SetNX(ctx, "s", "other", 0).Result()
	expect("SETNX", err, set, false)
	old, err := c.SetArgs(ctx, "s", "new", redis.SetArgs{Get: true}).Result()
	expect("SET GET", err, old, "value")
	expect("MSET", c.MSet(ctx, "a", 1, "b", 2).Err(), nil, nil)
	values, err := c.MGet(ctx, "a", "missing", "b").Result()
	expect("MGET", err, values, []any{"1", nil, "2"})
	number, err := c.IncrBy(ctx, "a", 41).Result()
	expect("INCRBY", err, number, int64(42))
	float, err := c.IncrByFloat(ctx, "a", 0.5).Result()
	expect("INCRBYFLOAT", err, float, 42.5)
	expect("SETBIT", c.SetBit(ctx, "bits", 7, 1).Err(), nil, nil)
	position, err := c.BitPos(ctx, "bits", 1).Result()
	expect("BITPOS", err, position, int64(7))
	large := strings.Repeat("x", 200_000)
	expect("SET of a large value", c.Set(ctx, "large", large, 0).Err(), nil, nil)
	got, err = c.Get(ctx, "large").Result()
	expect("GET of a large value", err, got == large, true)
}

func expiry(c *redis.Client) {
	expect("SET EX", c.Set(ctx, "t", "v", 100*time.Second).Err(), nil, nil)
	ttl, err := c.TTL(ctx, "t").Result()
	expect("TTL", err, ttl, 100*time.Second)
	expect("SET PX", c.Set(ctx, "t", "v", 30*time.Millisecond).Err(), nil, nil)
	for began := time.Now(); c.Exists(ctx, "t").Val() == 1; {
		if time.Since(began) > 5*time.Second {
			fail("a key did not expire")
		}
	}
}

func pipelinesAndTransactions(c *redis.Client) {
	replies, err := c.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 0; i < 1000; i++ {
			pipe.Set(ctx, fmt.Sprintf("p:%d", i), i, 0)
		}
		return nil
	})
	expect("a pipeline", err, len(replies), 1000)
	var sum *redis.IntCmd
	_, err = c.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "x", 1, 0)
		sum = pipe.Incr(ctx, "x")
		return nil
	})
	expect("MULTI/EXEC", err, sum.Val(), int64(2))
	err = c.Watch(ctx, func(tx *redis.Tx) error {
		c.Set(ctx, "x", 10, 0)
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "x", 0, 0)
			return nil
		})
		return err
	}, "x")
	if !errors.Is(err, redis.TxFailedErr) {
		fail("WATCH: the transaction ran although the key had changed: %v", err)
	}
}

func scanning(c *redis.Client) {
	found := map[string]bool{}
	iterator := c.Scan(ctx, 0, "p:*", 13).Iterator()
	for iterator.Next(ctx) {
		found[iterator.Val()] = true
	}
	expect("SCAN", iterator.Err(), len(found), 1000)
}

func errorsAndMaps(c *redis.Client) {
	expectError("INCR of text", c.Incr(ctx, "s").Err(), "not an integer")
	expectError("NOSUCH", c.Do(ctx, "NOSUCH", "a").Err(), "unknown command")
	expectError("GET", c.Do(ctx, "GET").Err(), "wrong number of arguments")
	config, err := c.ConfigGet(ctx, "maxmemory").Result()
	expect("CONFIG GET", err, config, map[string]string{"maxmemory": "0"})
	commands, err := c.Command(ctx).Result()
	expect("COMMAND", err, commands["get"] != nil && commands["get"].ReadOnly, true)
	info, err := c.Info(ctx, "server").Result()
	expect("INFO", err, strings.Contains(info, "redis_version"), true)
	lcs, err := c.LCS(ctx, &redis.LCSQuery{Key1: "l1", Key2: "l2", Idx: true}).Result()
	expect("LCS IDX", err, lcs.Len, int64(6))
}

func reconnect(c *redis.Client) {
	other := connect()
	defer other.Close()
	own, err := other.ClientID(ctx).Result()
	expect("CLIENT ID", err, own > 0, true)
	killed, err := c.ClientKillByFilter(ctx, "ID", strconv.FormatInt(own, 10)).Result()
	expect("CLIENT KILL", err, killed, int64(1))
	for began := time.Now(); ; {
		if now, err := other.ClientID(ctx).Result(); err == nil && now != own {
			return
		}
		if time.Since(began) > 10*time.Second {
			fail("no new connection after CLIENT KILL")
		}
	}
}

func many(c *redis.Client) {
	var group sync.WaitGroup
	for worker := 0; worker < 16; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 200; i++ {
				c.Incr(ctx, "n")
			}
		}()
	}
	group.Wait()
	total, err := c.Get(ctx, "n").Int()
	expect("sixteen goroutines that count", err, total, 3200)
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: session PORT PROTOCOL")
	}
	c := connect()
	defer c.Close()
	expect("FLUSHALL", c.FlushAll(ctx).Err(), nil, nil)
	expect("MSET", c.MSet(ctx, "l1", "ohmytext", "l2", "mynewtext").Err(), nil, nil)
	for _, part := range []func(*redis.Client){
		stringsAndBits, expiry, pipelinesAndTransactions, scanning, errorsAndMaps, reconnect, many,
	} {
		part(c)
	}
}
