import { type Cluster, Redis, type Result } from 'ioredis'
import { MAX_FAILURES, WINDOW_MS } from '../../rate-limit/failed-authentications.ts'
import type { ConnectedCounters, SharedCounters } from '../../rate-limit/shared-counters.ts'
import { connectRedis, type RedisConnectionOptions, redactCommand } from './client.ts'

declare module 'ioredis' {
  // The replies are `unknown`, because they are validated here.
  interface RedisCommander<Context> {
    takeFromBucket(key: string, capacity: number, refill: number): Result<unknown, Context>
    blockedMs(key: string, maxFailures: number, windowMs: number): Result<unknown, Context>
    countFailure(key: string, maxFailures: number, windowMs: number): Result<unknown, Context>
  }
}

export interface RedisCountersOptions
  extends Pick<RedisConnectionOptions, 'urls' | 'ca' | 'onError'> {
  prefix: string
}

/** Connects to Redis, which may be unavailable. */
export async function openRedisCounters({
  prefix,
  ...options
}: RedisCountersOptions): Promise<ConnectedCounters> {
  const { redis, reconnect, close } = await connectRedis(options)
  return { counters: createRedisCounters(redis, prefix), reconnect, close }
}

/**
 * Counters in Redis. Each decision is one atomic script on one key, by the clock of the server.
 * Every call rejects while Redis is unavailable. Every key starts with `prefix`, which has no
 * braces.
 */
export function createRedisCounters(redis: Redis | Cluster, prefix: string): SharedCounters {
  // ioredis sends a script by its digest, and its text after NOSCRIPT, when nothing has run.
  redis.defineCommand('takeFromBucket', { numberOfKeys: 1, lua: TAKE_FROM_BUCKET })
  redis.defineCommand('blockedMs', { numberOfKeys: 1, lua: BLOCKED_MS })
  redis.defineCommand('countFailure', { numberOfKeys: 1, lua: COUNT_FAILURE })

  const joinWrites = createWriteJoiner(redis)
  // The braces are a hash tag: the slot of a cluster depends on the id alone.
  const bucket = (accountId: string) => `${prefix}bucket:{${accountId}}`
  const failures = (address: string) => `${prefix}failures:{${address}}`

  return {
    async takeFromBucket(accountId, { capacity, refillPerSecond }) {
      joinWrites()
      const call = redis.takeFromBucket(bucket(accountId), capacity, refillPerSecond)
      const reply = await call.catch(throwRedacted)
      const [isAllowed, debt] = Array.isArray(reply) ? reply : [reply]
      if (isAllowed !== 0 && isAllowed !== 1) throw unexpected('takeFromBucket', reply)
      return { isAllowed: isAllowed === 1, debt: wholeNumber('takeFromBucket', debt) }
    },

    async blockedMs(address) {
      joinWrites()
      const call = redis.blockedMs(failures(address), MAX_FAILURES, WINDOW_MS)
      return wholeNumber('blockedMs', await call.catch(throwRedacted))
    },

    async countFailure(address) {
      joinWrites()
      const call = redis.countFailure(failures(address), MAX_FAILURES, WINDOW_MS)
      return wholeNumber('countFailure', await call.catch(throwRedacted))
    },
  }
}

/**
 * Returns a function to call before a command: all commands of one turn of the event loop leave in
 * one system call. A turn that waits for nothing else ends at once, so none is delayed. The nodes
 * of a cluster receive each command by itself.
 */
function createWriteJoiner(redis: Redis | Cluster): () => void {
  let isJoining = false
  return () => {
    if (isJoining || !(redis instanceof Redis) || redis.status !== 'ready') return
    const { stream } = redis
    isJoining = true
    stream.cork()
    setImmediate(() => {
      isJoining = false
      stream.uncork()
    })
  }
}

function throwRedacted(error: unknown): never {
  throw redactCommand(error)
}

function wholeNumber(script: string, reply: unknown): number {
  if (typeof reply === 'number' && Number.isSafeInteger(reply) && reply >= 0) return reply
  throw unexpected(script, reply)
}

function unexpected(script: string, reply: unknown): Error {
  return new Error(`unexpected reply from Redis to the script ${script}: ${JSON.stringify(reply)}`)
}

/**
 * `takeFromBucket` of `src/rate-limit/gcra.ts` in Lua, by the clock of the server.
 * `test/contract/redis-bucket.test.ts` compares the two. The state is `debt` and `atMicros`,
 * separated by a space. Returns whether the request is allowed (1 or 0) and the resulting debt.
 */
export const TAKE_FROM_BUCKET = `
local bucket = KEYS[1]
local capacity = tonumber(ARGV[1])
local refillPerSecond = tonumber(ARGV[2])
local time = redis.call('TIME')

local REQUEST = 1000000
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local debt = 0
local owed, at = string.match(redis.call('GET', bucket) or '', '^(%d+) (%d+)$')
if owed then
  owed = tonumber(owed)
  local elapsed = math.abs(now - tonumber(at))
  local repaying = math.min(elapsed, math.ceil(owed / refillPerSecond))
  debt = math.max(0, owed - repaying * refillPerSecond)
end

if debt + REQUEST > capacity * REQUEST then
  return { 0, debt }
end
debt = debt + REQUEST
-- A key that expires before the bucket is full would grant extra requests.
local fullInMs = math.ceil(debt / (refillPerSecond * 1000)) + 1
redis.call('SET', bucket, string.format('%.0f %.0f', debt, now), 'PX', string.format('%.0f', fullInMs))
return { 1, debt }
`

/**
 * The milliseconds until the window of failures ends; negative without one. Redis stores the
 * instant of an expiry. After its clock is set back, a window would last longer, so it counts as
 * ended.
 */
const WINDOW_LEFT = `
local function windowLeft(failures, windowMs)
  local left = redis.call('PTTL', failures)
  return left > windowMs and -1 or left
end
`

/** Milliseconds until the address is unblocked, or 0. Read-only. */
const BLOCKED_MS = `${WINDOW_LEFT}
local failures = KEYS[1]
local maxFailures, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2])

local count = tonumber(redis.call('GET', failures) or 0)
local left = windowLeft(failures, windowMs)
if left < 0 or count < maxFailures then
  return 0
end
return math.max(1, left)
`

/**
 * Counts a failure of the address. For a blocked address, returns the milliseconds left instead.
 */
const COUNT_FAILURE = `${WINDOW_LEFT}
local failures = KEYS[1]
local maxFailures, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2])

local count = tonumber(redis.call('GET', failures) or 0)
local left = windowLeft(failures, windowMs)
if left < 0 then
  redis.call('SET', failures, 1, 'PX', windowMs)
  return 0
end
if count >= maxFailures then
  return math.max(1, left)
end
redis.call('INCR', failures)
return 0
`
