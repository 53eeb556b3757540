import { createHash } from 'node:crypto'

/** A decision as Redis runs it: one step, on one key, by the server's clock. */
export interface Script {
  lua: string
  /** By which Redis knows a script that it has run before. */
  sha1: string
}

/**
 * Takes a request from the bucket: `takeFromBucket` of `limits/gcra.ts` in Lua, and a test holds one
 * against the other. The state is `debt` and `atMicros` with a space between. Answers whether the request
 * passes (1 or 0) and the debt that leaves.
 */
export const take = script(`
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
-- Never before it is full again: a key that expires early would hand out requests.
local fullInMs = math.ceil(debt / (refillPerSecond * 1000)) + 1
redis.call('SET', bucket, string.format('%.0f %.0f', debt, now), 'PX', string.format('%.0f', fullInMs))
return { 1, debt }
`)

/** Milliseconds for which an address is blocked; 0 when it is not. Counts nothing. */
export const blockedFor = script(`
local failures = KEYS[1]
local maxFailures = tonumber(ARGV[1])

if tonumber(redis.call('GET', failures) or 0) < maxFailures then
  return 0
end
return math.max(1, redis.call('PTTL', failures))
`)

/** Counts a failure of an address, or, when it is blocked, answers for how many milliseconds. */
export const countFailure = script(`
local failures = KEYS[1]
local maxFailures = tonumber(ARGV[1])
local windowMs = ARGV[2]

if tonumber(redis.call('GET', failures) or 0) >= maxFailures then
  return math.max(1, redis.call('PTTL', failures))
end
if redis.call('INCR', failures) == 1 then
  redis.call('PEXPIRE', failures, windowMs)
end
return 0
`)

export function script(lua: string): Script {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') }
}
