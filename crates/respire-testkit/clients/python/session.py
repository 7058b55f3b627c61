"""A session of redis-py. Usage: session.py PORT PROTOCOL"""

import asyncio
import sys
import threading
import time

import redis
import redis.asyncio

PORT, PROTOCOL = int(sys.argv[1]), int(sys.argv[2])


def expect(got, expected, what):
    if got != expected:
        sys.exit(f"{what}: expected {expected!r}, got {got!r}")


def expect_error(text, what, call):
    try:
        got = call()
    except redis.ResponseError as error:
        if text not in str(error):
            sys.exit(f"{what}: expected an error with {text!r}, got {error!r}")
        return
    sys.exit(f"{what}: expected an error with {text!r}, got {got!r}")


def connect(**options):
    return redis.Redis(port=PORT, protocol=PROTOCOL, decode_responses=True, **options)


def strings(r):
    expect(r.set("s", "value"), True, "SET")
    expect(r.get("s"), "value", "GET")
    expect(r.get("missing"), None, "GET of nothing")
    expect(r.set("s", "other", nx=True), None, "SET NX")
    expect(r.set("s", "new", get=True), "value", "SET GET")
    expect(r.append("s", "er"), 5, "APPEND")
    expect(r.strlen("s"), 5, "STRLEN")
    expect(r.getrange("s", 0, 2), "new", "GETRANGE")
    expect(r.mset({"a": 1, "b": 2}), True, "MSET")
    expect(r.mget("a", "missing", "b"), ["1", None, "2"], "MGET")
    expect(r.incrby("a", 41), 42, "INCRBY")
    expect(r.incrbyfloat("a", 0.5), 42.5, "INCRBYFLOAT")
    expect(r.setbit("bits", 7, 1), 0, "SETBIT")
    expect(r.bitcount("bits"), 1, "BITCOUNT")
    expect(r.bitfield("bits").get("u8", 0).execute(), [1], "BITFIELD")
    expect(r.getdel("b"), "2", "GETDEL")
    raw = redis.Redis(port=PORT, protocol=PROTOCOL)
    blob = bytes(range(256)) * 200
    raw.set("blob", blob)
    expect(raw.get("blob"), blob, "a binary value")
    expect(raw.restore("copy", 0, raw.dump("blob")), b"OK" if PROTOCOL == 3 else b"OK", "RESTORE")
    expect(raw.get("copy"), blob, "a restored value")


def expiry(r):
    r.set("t", "v", ex=100)
    expect(0 < r.ttl("t") <= 100, True, "TTL")
    expect(r.persist("t"), True, "PERSIST")
    expect(r.ttl("t"), -1, "TTL without")
    r.set("t", "v", px=30)
    deadline = time.monotonic() + 5
    while r.exists("t"):
        expect(time.monotonic() < deadline, True, "a key that expires")
    expect(r.ttl("t"), -2, "TTL of nothing")
    expect(r.expire("t", 10), False, "EXPIRE of nothing")


def pipelines_and_transactions(r):
    with r.pipeline(transaction=False) as pipe:
        for i in range(1000):
            pipe.set(f"p:{i}", i)
        for i in range(1000):
            pipe.get(f"p:{i}")
        replies = pipe.execute()
    expect(replies[:1000], [True] * 1000, "a pipeline of SET")
    expect(replies[1000:], [str(i) for i in range(1000)], "a pipeline of GET")
    with r.pipeline() as pipe:
        pipe.set("x", 1).incr("x").get("x")
        expect(pipe.execute(), [True, 2, "2"], "MULTI/EXEC")
    with r.pipeline() as pipe:
        pipe.watch("x")
        r.set("x", 10)
        pipe.multi()
        pipe.set("x", 0)
        try:
            pipe.execute()
            sys.exit("WATCH: the transaction ran although the key had changed")
        except redis.WatchError:
            pass
    expect(r.get("x"), "10", "a refused transaction")
    total = r.transaction(lambda pipe: pipe.multi() or pipe.incr("x"), "x")
    expect(total, [11], "transaction()")
    with r.pipeline() as pipe:
        pipe.set("text", "abc").incr("text").get("text")
        replies = pipe.execute(raise_on_error=False)
    expect(isinstance(replies[1], redis.ResponseError), True, "an error inside EXEC")
    expect(replies[2], "abc", "what follows an error inside EXEC")


def scanning(r):
    expect(set(r.scan_iter(match="p:*", count=13)), {f"p:{i}" for i in range(1000)}, "SCAN")
    expect(len(r.keys("p:*")), 1000, "KEYS")
    expect(r.delete(*[f"p:{i}" for i in range(1000)]), 1000, "DEL of many")


def errors(r):
    r.set("text", "abc")
    expect_error("not an integer", "INCR of text", lambda: r.incr("text"))
    expect_error("wrong number of arguments", "GET", lambda: r.execute_command("GET"))
    expect_error("unknown command", "NOSUCH", lambda: r.execute_command("NOSUCH", "a"))
    expect_error("out of range", "SELECT", lambda: r.execute_command("SELECT", 99))
    expect_error("no such key", "RENAME", lambda: r.rename("missing", "x"))


def maps(r):
    got = r.config_get("maxmemory")
    expect(got, {"maxmemory": "0"}, "CONFIG GET")
    expect(r.info("server")["redis_version"].count("."), 2, "INFO")
    r.mset({"l1": "ohmytext", "l2": "mynewtext"})
    matches = r.lcs("l1", "l2", idx=True)
    if PROTOCOL == 3:
        expect(matches["len"], 6, "LCS IDX as a map")
    else:
        expect(matches[-2:], ["len", 6], "LCS IDX as a list")
    expect("get" in r.command(), True, "COMMAND")
    expect(r.client_getname() or None, None, "CLIENT GETNAME")
    expect(any(c["id"] for c in r.client_list()), True, "CLIENT LIST")


def reconnect(r):
    other = connect()
    own = other.client_id()
    expect(r.client_kill_filter(_id=own), 1, "CLIENT KILL")
    # The server's thread closes it, which may be a moment after the reply.
    for _ in range(10_000):
        if all(int(client["id"]) != own for client in r.client_list()):
            break
    expect(other.ping(), True, "a new connection after CLIENT KILL")
    expect(other.client_id() != own, True, "the number of a new connection")


def threads(r):
    r.set("n", 0)

    def work():
        mine = connect()
        for _ in range(200):
            mine.incr("n")

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expect(r.get("n"), "1600", "eight threads that count")


def scripts(r):
    add = r.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    expect(add(keys=["sum"], args=[5]), 5, "a script")
    r.script_flush()
    expect(add(keys=["sum"], args=[2]), 7, "a script that was forgotten")
    with r.pipeline() as pipe:
        add(keys=["sum"], args=[1], client=pipe)
        pipe.get("sum")
        expect(pipe.execute(), [8, "8"], "a script in a transaction")
    expect_error("My own", "error_reply", lambda: r.eval("return redis.error_reply('My own')", 0))
    library = "#!lua name=client\nredis.register_function('first', function(keys) return keys[1] end)"
    expect(r.function_load(library, replace=True), "client", "FUNCTION LOAD")
    expect(r.fcall("first", 1, "k"), "k", "FCALL")
    expect(bool(r.function_delete("client")), True, "FUNCTION DELETE")


def lock_error(what, kind, call):
    try:
        call()
    except kind:
        return
    sys.exit(f"{what}: no {kind.__name__}")


def locks(r):
    lock = r.lock("lock", timeout=100)
    expect(lock.acquire(blocking=False), True, "a free lock")
    expect(r.lock("lock", timeout=100).acquire(blocking=False), False, "a lock that is taken")
    expect(lock.extend(100), True, "Lock.extend")
    expect(100 < r.ttl("lock") <= 200, True, "the time of an extended lock")
    expect(lock.reacquire(), True, "Lock.reacquire")
    lock.release()
    expect(r.exists("lock"), 0, "a released lock")
    lock.acquire()
    r.set("lock", "stolen")
    lock_error("extending a stolen lock", redis.exceptions.LockNotOwnedError, lambda: lock.extend(1))
    lock_error("releasing a stolen lock", redis.exceptions.LockNotOwnedError, lock.release)
    expect(r.get("lock"), "stolen", "the lock of somebody else")
    r.set("n", 0)

    def work():
        mine = connect()
        for _ in range(20):
            with mine.lock("guard", timeout=100, sleep=0.001):
                mine.set("n", int(mine.get("n")) + 1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expect(r.get("n"), "80", "threads that count under a lock")
    asyncio.run(locks_of_tasks())


async def locks_of_tasks():
    r = redis.asyncio.Redis(port=PORT, protocol=PROTOCOL, decode_responses=True)
    await r.set("n", 0)

    async def work():
        for _ in range(20):
            async with r.lock("guard", timeout=100, sleep=0.001):
                await r.set("n", int(await r.get("n")) + 1)

    await asyncio.gather(*[work() for _ in range(4)])
    expect(await r.get("n"), "80", "tasks that count under a lock")
    await r.aclose()


PARTS = (
    strings,
    expiry,
    pipelines_and_transactions,
    scanning,
    errors,
    maps,
    reconnect,
    threads,
    scripts,
    locks,
)

r = connect()
r.flushall()
for part in PARTS:
    part(r)
