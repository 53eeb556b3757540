/** XINFO GROUPS as a table by field name; empty for a missing stream. */
export const GROUPS = `
local function byName(facts)
  local named = {}
  for n = 1, #facts, 2 do
    named[facts[n]] = facts[n + 1]
  end
  return named
end

local function groups(stream)
  local all = {}
  if redis.call('EXISTS', stream) == 0 then return all end
  for at, facts in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    all[at] = byName(facts)
  end
  return all
end

local function groupOf(stream, name)
  for _, group in ipairs(groups(stream)) do
    if group['name'] == name then return group end
  end
end
`

/**
 * The number of entries after the last delivered one, and the id of the first. The number is nil
 * where the stream still has an entry that was delivered: only counting all of them would give it.
 */
export const UNREAD = `
local function unread(stream, last)
  local next = redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', 1)[1]
  if not next then return 0 end
  if #redis.call('XRANGE', stream, '-', last, 'COUNT', 1) > 0 then return nil end
  return redis.call('XLEN', stream), next[1]
end
`

/**
 * Lets the later writes of a script succeed in a full Redis. Without it the reader could not
 * continue, and nothing would free memory. Redis checks the memory only up to the first write of a
 * script, and this one needs none: no entry has this id. Redis 6 lacks the flag `allow-oom` of
 * Redis 7.
 */
export const ALLOW_FULL = `
local function allowFull(stream, group)
  redis.call('XACK', stream, group, '0-0')
end
`

/**
 * Creates the group at the start of the stream, because entries may precede it. Entries removed
 * before count as read. Redis 7 would not know their number until the first delivery, so entries
 * trimmed until then would not count as lost. Redis before 7 keeps no such numbers.
 */
export const CREATE_GROUP = `${GROUPS}${ALLOW_FULL}
local stream, group = KEYS[1], ARGV[1]
allowFull(stream, group)
local created = redis.call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
local facts = byName(redis.call('XINFO', 'STREAM', stream))
local added = facts['entries-added']
if added then
  redis.call('XGROUP', 'SETID', stream, group, '0', 'ENTRIESREAD', added - facts['length'])
end
return created
`

/** Removes entries older than the oldest pending and the last delivered entry of every group. */
export const TRIM_STREAM = `${GROUPS}
local stream = KEYS[1]

-- A Lua number cannot hold the 64-bit halves of an id, so ids are compared as padded text.
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
`

/**
 * Counts the entries that a group has not acknowledged. The lag of Redis may include entries that
 * were trimmed undelivered. It is absent after some deletions: then the length of the stream is an
 * upper bound.
 */
export const STREAM_BACKLOG = `${GROUPS}${UNREAD}
local stream, name = KEYS[1], ARGV[1]
local length = redis.call('XLEN', stream)
local group = groupOf(stream, name)
if not group then return length end
local pending = group['pending']
local left = unread(stream, group['last-delivered-id'])
return (left or group['lag'] or math.max(1, length - pending)) + pending
`

/** Runs on the node of the stream; a cluster sends INFO itself to any node. */
export const PERSISTENCE_INFO = `return redis.call('INFO', 'persistence')`
