import { Unavailable } from '../lib/errors/unavailable.ts'
import { hmacSha256 } from '../lib/secrets/hmac.ts'
import type { KeyStore } from './key-store.ts'

/** The check value of the pepper, beside the keys. */
export interface PepperCheckStore {
  /** `null` when none is recorded. */
  read(): Promise<string | null>
  replace(check: string): Promise<void>
  /** Whether any key of any account is stored. */
  hasKeys(): Promise<boolean>
}

interface PepperOptions {
  /** `null`: the store has no check. */
  pepperCheck: PepperCheckStore | null
  keyPepper: Uint8Array
}

/** One-way, and unlike the digest of any key. */
const checkOf = (pepper: Uint8Array) => hmacSha256(pepper, 'check of the pepper').toString('hex')

/**
 * Whether the pepper is the recorded one: of the service that started, or of the stored keys. Keys
 * of an earlier version have no check until one is used.
 * @throws Unavailable
 */
export async function isPepperOfKeys({ pepperCheck, keyPepper }: PepperOptions): Promise<boolean> {
  const recorded = (await pepperCheck?.read()) ?? null
  return recorded === null || recorded === checkOf(keyPepper)
}

/**
 * Whether a service that starts accepts the stored keys, as far as is known. While there are none,
 * its pepper is the right one, and is recorded. `true` while the store is unavailable.
 */
export async function recordOrCheckPepper(options: PepperOptions): Promise<boolean> {
  const { pepperCheck, keyPepper } = options
  try {
    if (pepperCheck && !(await pepperCheck.hasKeys())) await pepperCheck.replace(checkOf(keyPepper))
    return await isPepperOfKeys(options)
  } catch (error) {
    if (error instanceof Unavailable) return true
    throw error
  }
}

/**
 * The same keys, which record the check: the first one that is created, and one that is used, which
 * proves that the pepper is right.
 */
export function withPepperCheck(
  keys: KeyStore,
  { pepperCheck, keyPepper }: PepperOptions,
): KeyStore {
  if (pepperCheck === null) return keys
  const own = checkOf(keyPepper)
  let isRecorded = false
  return {
    ...keys,
    async insert(key) {
      if (!(await pepperCheck.hasKeys())) await pepperCheck.replace(own)
      await keys.insert(key)
    },
    async update(digest, timestamps) {
      await keys.update(digest, timestamps)
      if (isRecorded || timestamps.lastValidAt === undefined) return
      await pepperCheck.replace(own)
      isRecorded = true
    },
  }
}
