import { GROUPS, UNREAD } from './groups.ts'

/**
 * Reads a batch: first the consumer's pending entries, then new ones. Returns the server's time
 * (seconds, microseconds) and the entries. It reads in small steps, because an entry may have many
 * megabytes: the batch exceeds `maxBytes` by one step at most.
 *
 * Before that it counts the entries that XADD MAXLEN or XTRIM removed undelivered. It then marks
 * them as read, so that each is counted once and the lag of Redis is correct. Redis before 7 keeps
 * no such counters.
 */
export const READ_BATCH = `${GROUPS}${UNREAD}
local function takeUndelivered(stream, name)
  local group = groupOf(stream, name)
  local read = group and group['entries-read']
  if not read then return { 0, '' } end
  local last = group['last-delivered-id']
  local left, next = unread(stream, last)
  if not left then return { 0, '' } end
  local facts = byName(redis.call('XINFO', 'STREAM', stream))
  local lost = facts['entries-added'] - read - left
  if lost <= 0 then return { 0, '' } end
  redis.call('XGROUP', 'SETID', stream, name, last, 'ENTRIESREAD', read + lost)
  return { lost, next or facts['last-generated-id'] }
end

-- Redis 7.0 sends the number of read entries with no read to its replicas and its log.
local function keepCount(stream, name)
  local group = groupOf(stream, name)
  local read = group and group['entries-read']
  if read then
    redis.call('XGROUP', 'SETID', stream, name, group['last-delivered-id'], 'ENTRIESREAD', read)
  end
end

local stream, group, consumer = KEYS[1], ARGV[1], ARGV[2]
local maxEntries, maxBytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local STEP = 4

local undelivered = takeUndelivered(stream, group)
local entries, bytes = {}, 0
local after = '0'
while #entries < maxEntries and bytes < maxBytes do
  local reply = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', STEP, 'STREAMS', stream, after)
  local step = reply and reply[1] and reply[1][2] or {}
  for _, entry in ipairs(step) do
    entries[#entries + 1] = entry
    for _, value in ipairs(entry[2] or {}) do
      bytes = bytes + #value
    end
  end
  if #step == 0 and after == '>' then break end
  if #step == 0 then
    after = '>'
  elseif after ~= '>' then
    after = step[#step][1]
  end
end
keepCount(stream, group)
return { redis.call('TIME'), entries, undelivered }
`

/**
 * Claims one page of the pending entries of all consumers. Returns the start of the next page
 * (`0-0` after the last), and the ids of deleted entries, which are no longer pending.
 */
export const CLAIM_PENDING_PAGE = `
local stream, group, consumer, from = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local reply = redis.call('XAUTOCLAIM', stream, group, consumer, 0, from, 'COUNT', 1000, 'JUSTID')
return { reply[1], reply[3] or {} }
`
