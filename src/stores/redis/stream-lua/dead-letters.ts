import { ALLOW_FULL } from './groups.ts'

/**
 * Moves a rejected entry to the dead-letter stream in one atomic step, only while the entry is
 * pending. Neither a crash nor a second reader can duplicate it. XADD runs before XACK, so that its
 * failure loses nothing.
 */
export const DEAD_LETTER_ENTRY = `${ALLOW_FULL}
local stream, deadLetters, group, id = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
if #redis.call('XPENDING', stream, group, id, id, 1) == 0 then
  return 0
end
allowFull(stream, group)
redis.call('XADD', deadLetters, '*', unpack(ARGV, 3))
return redis.call('XACK', stream, group, id)
`

/** Adds a dead letter alone, in a cluster. */
export const ADD_DEAD_LETTER = `${ALLOW_FULL}
local deadLetters, group = KEYS[1], ARGV[1]
allowFull(deadLetters, group)
return redis.call('XADD', deadLetters, '*', unpack(ARGV, 2))
`
