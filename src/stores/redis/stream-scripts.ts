import type { Cluster, Redis, Result } from 'ioredis'

/**
 * The reply of the script `readBatch`. A deleted entry has no fields. `undelivered` counts the
 * entries removed before their delivery, and names an id that none of them exceeds.
 */
export type BatchReply = [
  clock: [Buffer, Buffer],
  entries: [id: Buffer, fields: Buffer[] | null][],
  undelivered: [count: number, upTo: Buffer],
]

export type Argument = string | number | Buffer

// The `Buffer` variants return strings as buffers: the bytes of an order are not decoded.
declare module 'ioredis' {
  interface RedisCommander<Context> {
    readBatchBuffer(
      stream: string,
      group: string,
      consumer: string,
      maxEntries: number,
      maxBytes: number,
    ): Result<BatchReply, Context>
    /** Fails with BUSYGROUP for an existing group. */
    createGroup(stream: string, group: string): Result<string, Context>
    claimPendingPage(
      stream: string,
      group: string,
      consumer: string,
      from: string,
    ): Result<[next: string, deletedIds: string[]], Context>
    deadLetterEntry(
      stream: string,
      deadLetterStream: string,
      group: string,
      id: string,
      ...fields: Argument[]
    ): Result<number, Context>
    addDeadLetter(
      deadLetterStream: string,
      group: string,
      ...fields: Argument[]
    ): Result<string, Context>
    trimStream(stream: string): Result<number, Context>
    streamBacklog(stream: string, group: string): Result<number, Context>
    persistenceInfo(stream: string): Result<string, Context>
  }
}

/** Adds the scripts of the change stream to the client, which resends a script after NOSCRIPT. */
export function defineStreamScripts(redis: Redis | Cluster): void {
  redis.defineCommand('readBatch', { numberOfKeys: 1, lua: READ_BATCH })
  redis.defineCommand('createGroup', { numberOfKeys: 1, lua: CREATE_GROUP })
  redis.defineCommand('claimPendingPage', { numberOfKeys: 1, lua: CLAIM_PENDING_PAGE })
  redis.defineCommand('deadLetterEntry', { numberOfKeys: 2, lua: DEAD_LETTER_ENTRY })
  redis.defineCommand('addDeadLetter', { numberOfKeys: 1, lua: ADD_DEAD_LETTER })
  redis.defineCommand('trimStream', { numberOfKeys: 1, lua: TRIM_STREAM })
  redis.defineCommand('streamBacklog', { numberOfKeys: 1, lua: STREAM_BACKLOG })
  redis.defineCommand('persistenceInfo', { numberOfKeys: 1, lua: PERSISTENCE_INFO })
}

/** XINFO GROUPS as a table by field name; empty for a missing stream. */
const GROUPS = `
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
const UNREAD = `
local function unread(stream, last)
  local next = redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', 1)[1]
  if not next then return 0 end
  if #redis.call('XRANGE', stream, '-', last, 'COUNT', 1) > 0 then return nil end
  return redis.call('XLEN', stream), next[1]
end
`

/**
 * Reads a batch: first the consumer's pending entries, then new ones. Returns the server's time
 * (seconds, microseconds) and the entries. It reads in small steps, because an entry may have many
 * megabytes: the batch exceeds `maxBytes` by one step at most.
 *
 * Before that it counts the entries that XADD MAXLEN or XTRIM removed undelivered, once: it then
 * counts them as read, which also corrects the lag of Redis. Redis before 7 keeps no such counters.
 */
const READ_BATCH = `${GROUPS}${UNREAD}
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
const CLAIM_PENDING_PAGE = `
local stream, group, consumer, from = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local reply = redis.call('XAUTOCLAIM', stream, group, consumer, 0, from, 'COUNT', 1000, 'JUSTID')
return { reply[1], reply[3] or {} }
`

/**
 * Lets the later writes of a script succeed in a full Redis: else the reader could not continue, and
 * nothing would free memory. Redis checks the memory only up to the first write of a script, and
 * this one needs none: no entry has this id. Redis 6 does not know the flag `allow-oom` of Redis 7.
 */
const ALLOW_FULL = `
local function allowFull(stream, group)
  redis.call('XACK', stream, group, '0-0')
end
`

/** Creates the group at the start of the stream, because entries may precede it. */
const CREATE_GROUP = `${ALLOW_FULL}
local stream, group = KEYS[1], ARGV[1]
allowFull(stream, group)
return redis.call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
`

/**
 * Moves a rejected entry to the dead-letter stream in one atomic step, only while the entry is
 * pending. Neither a crash nor a second reader can duplicate it. XADD runs before XACK, so that its
 * failure loses nothing.
 */
const DEAD_LETTER_ENTRY = `${ALLOW_FULL}
local stream, refused, group, id = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
if #redis.call('XPENDING', stream, group, id, id, 1) == 0 then
  return 0
end
allowFull(stream, group)
redis.call('XADD', refused, '*', unpack(ARGV, 3))
return redis.call('XACK', stream, group, id)
`

/** Adds a dead letter alone, in a cluster. */
const ADD_DEAD_LETTER = `${ALLOW_FULL}
local refused, group = KEYS[1], ARGV[1]
allowFull(refused, group)
return redis.call('XADD', refused, '*', unpack(ARGV, 2))
`

/** Removes entries older than the oldest pending and the last delivered entry of every group. */
const TRIM_STREAM = `${GROUPS}
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
const STREAM_BACKLOG = `${GROUPS}${UNREAD}
local stream, name = KEYS[1], ARGV[1]
local length = redis.call('XLEN', stream)
local group = groupOf(stream, name)
if not group then return length end
local pending = group['pending']
local left = unread(stream, group['last-delivered-id'])
return (left or group['lag'] or math.max(1, length - pending)) + pending
`

/** Runs on the node of the stream; a cluster sends INFO itself to any node. */
const PERSISTENCE_INFO = `return redis.call('INFO', 'persistence')`
