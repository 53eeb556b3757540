import { script } from './scripts.ts'

/** What Redis tells of each group of a stream, by name; nothing where there is no stream. */
const GROUPS = `
local function groups(stream)
  local all = {}
  if redis.call('EXISTS', stream) == 0 then return all end
  for at, facts in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    all[at] = {}
    for n = 1, #facts, 2 do
      all[at][facts[n]] = facts[n + 1]
    end
  end
  return all
end
`

/**
 * Reads a batch: what the consumer was given and has not acknowledged, then what is new. In small steps,
 * because an entry may be of many megabytes: one step beyond `maxBytes` is the most that is held. Answers
 * the clock (seconds, microseconds) and the entries; those that are gone come without fields.
 */
export const readBatch = script(`
local stream, group, consumer = KEYS[1], ARGV[1], ARGV[2]
local maxEntries, maxBytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local STEP = 4

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
return { redis.call('TIME'), entries }
`)

/**
 * Makes what any consumer was given the reader's own, a page of it. Answers where the next page begins,
 * `0-0` after the last, and the ids of what is gone, which are pending no more.
 */
export const claimPendingPage = script(`
local stream, group, consumer, from = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local reply = redis.call('XAUTOCLAIM', stream, group, consumer, 0, from, 'COUNT', 1000, 'JUSTID')
return { reply[1], reply[3] or {} }
`)

/**
 * Parks a refused entry and acknowledges it, in one step and only while it is pending: neither a crash nor
 * a second reader parks it twice. In this order, so that a Redis that has no room loses nothing.
 */
export const deadLetterEntry = script(`
local stream, refused, group, id = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
if #redis.call('XPENDING', stream, group, id, id, 1) == 0 then
  return 0
end
redis.call('XADD', refused, '*', unpack(ARGV, 3))
return redis.call('XACK', stream, group, id)
`)

/** Removes what no group needs: what is older than the oldest pending entry and the last delivered one of each. */
export const trim = script(`${GROUPS}
local stream = KEYS[1]

-- Ids compare as two numbers of 64 bits, which a number of Lua does not hold: as text of one length they do.
local function sortable(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return string.rep('0', 20 - #ms) .. ms .. string.rep('0', 20 - #seq) .. seq
end

local needed
local function need(id)
  if not needed or sortable(id) < sortable(needed) then needed = id end
end

for _, group in ipairs(groups(stream)) do
  need(group['last-delivered-id'])
  if group['pending'] > 0 then
    need(redis.call('XPENDING', stream, group['name'])[2])
  end
end
return needed and redis.call('XTRIM', stream, 'MINID', '=', needed) or 0
`)

/**
 * Entries that a group has not acknowledged. Where Redis does not know how many were not delivered, because
 * some were deleted in between, what is in the stream counts, which is rather too many.
 */
export const backlog = script(`${GROUPS}
local stream, name = KEYS[1], ARGV[1]
local length = redis.call('XLEN', stream)
for _, group in ipairs(groups(stream)) do
  if group['name'] == name then
    local lag = group['lag']
    if not lag then
      local next = redis.call('XRANGE', stream, '(' .. group['last-delivered-id'], '+', 'COUNT', 1)
      lag = #next == 0 and 0 or math.max(1, length - group['pending'])
    end
    return lag + group['pending']
  end
end
return length
`)
