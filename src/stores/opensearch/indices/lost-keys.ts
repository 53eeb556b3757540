import { IndexLost, KEY_STORE } from '../../index-lost.ts'
import { existingAliases } from '../client/aliases.ts'
import type { IndexNames } from './index-names.ts'
import { type PresenceOptions, readPresence } from './index-presence.ts'
import { hasDocuments, hasWritten } from './lost-version-records.ts'

/** Which of the indices of keys and accounts are missing, and whether they existed. */
export interface KeyPresence {
  /** Aliases. */
  missing: readonly string[]
  /** Of the missing ones. */
  areLost: boolean
}

/**
 * Reads whether keys and accounts exist, and were lost where not. Keys are created before accounts,
 * and both before the first write of orders. So an interrupted first start leaves keys alone,
 * empty.
 * @throws Unavailable
 */
export async function readKeyPresence(options: PresenceOptions): Promise<KeyPresence> {
  const missing = await readMissing(options)
  if (missing.length === 0 || !(await wereUsed(options, missing))) {
    return { missing, areLost: false }
  }
  // Read again, because another process may have created them meanwhile, and then written.
  const stillMissing = await readMissing(options)
  return { missing: stillMissing, areLost: stillMissing.length > 0 }
}

/** Reads one cluster state, since another process may create both between two. */
async function readMissing({ client, names, deadlineMs }: PresenceOptions): Promise<string[]> {
  const aliases = [names.keys, names.accounts]
  const existing = await existingAliases(client, deadlineMs, aliases)
  return aliases.filter((alias) => !existing.has(alias))
}

async function wereUsed(options: PresenceOptions, missing: readonly string[]): Promise<boolean> {
  const { keys, accounts } = options.names
  if (!missing.includes(accounts)) return true
  if (!missing.includes(keys) && (await hasDocuments(options, keys))) return true
  const presence = await readPresence(options)
  if (presence.kind !== 'present') return presence.kind === 'lost'
  return hasWritten(options, presence.records)
}

/** The error for lost keys or accounts, with the ways to recover. */
export function keysLostError(
  { accounts }: Pick<IndexNames, 'accounts'>,
  missing: readonly string[],
): IndexLost {
  const effect = missing.includes(accounts)
    ? 'An empty one would serve blocked accounts. '
    : 'An empty one would reject every key. '
  return new IndexLost(
    `there is no index ${missing.join(' and no index ')}, and other indices show that it was used`,
    effect,
    KEY_STORE,
  )
}
