import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../lib/errors/error-text.ts'
import { createFolder, NO_FOLDER_ADVICE } from '../lib/files/private-files.ts'
import { syncFolderSync } from '../lib/files/sync-folder.ts'
import { hmacSha256 } from '../lib/secrets/hmac.ts'
import type { NamedSecret, NamedSecrets } from '../lib/secrets/named-secret.ts'
import type { Config } from './config.ts'
import { parseNamedSecrets, parseSecret } from './parsers.ts'

export interface Secrets {
  cursorSecrets: NamedSecrets
  keyPepper: Uint8Array
  /** `null`: not configured, with OpenSearch. Each endpoint remembers the one that it uses. */
  webhookSecrets: NamedSecrets | null
}

interface StoredSecrets extends Omit<Secrets, 'webhookSecrets'> {
  /** `undefined` in a file of an earlier version. */
  webhookSecrets: NamedSecrets | undefined
}

const FILE = 'secrets.json'

/**
 * The configured secrets. Missing ones are generated once and stored in the data folder, except
 * those of webhooks with OpenSearch, where several machines would generate different ones.
 * @throws Error with the path when the file cannot be created or used
 */
export function loadSecrets(
  config: Pick<
    Config,
    'dataDir' | 'opensearchUrls' | 'cursorSecrets' | 'keyPepper' | 'webhookSecrets'
  >,
): Secrets {
  const { dataDir, opensearchUrls, cursorSecrets, keyPepper, webhookSecrets } = config
  if (cursorSecrets && keyPepper) {
    const given = { cursorSecrets, keyPepper, webhookSecrets: webhookSecrets ?? null }
    if (opensearchUrls !== undefined) return given
    const stored = exists(join(dataDir, FILE)) ? storedSecrets(dataDir) : undefined
    return {
      ...given,
      cursorSecrets: withStoredSecrets(cursorSecrets, stored?.cursorSecrets ?? []),
      webhookSecrets: withOwnSecrets(webhookSecrets, stored, keyPepper),
    }
  }
  const stored = storedSecrets(dataDir)
  const pepper = keyPepper ?? stored.keyPepper
  return {
    cursorSecrets: cursorSecrets
      ? withStoredSecrets(cursorSecrets, stored.cursorSecrets)
      : stored.cursorSecrets,
    keyPepper: pepper,
    webhookSecrets: withOwnSecrets(webhookSecrets, stored, pepper),
  }
}

/**
 * The configured secrets, then those of the data folder, which signed the cursors from before the
 * setting. Two may have the same `kid`: earlier versions generated that of the documented example.
 */
function withStoredSecrets(configured: NamedSecrets, stored: readonly NamedSecret[]): NamedSecrets {
  const isNew = ({ secret }: NamedSecret) =>
    !configured.some((given) => Buffer.compare(given.secret, secret) === 0)
  return [...configured, ...stored.filter(isNew)]
}

/**
 * The configured secrets, then that of this data folder: endpoints made before the setting still
 * use it. An earlier version's file has none, and stays as it is. Its secret derives from the
 * pepper instead, so that concurrent starts agree without a write.
 */
function withOwnSecrets(
  configured: NamedSecrets | undefined,
  stored: StoredSecrets | undefined,
  keyPepper: Uint8Array,
): NamedSecrets {
  const own = stored?.webhookSecrets ?? derivedSecrets(keyPepper)
  if (configured === undefined) return own
  const isNew = ({ kid }: NamedSecret) => !configured.some((given) => given.kid === kid)
  return [...configured, ...own.filter(isNew)]
}

/** Another pepper has another `kid`, so no endpoint silently signs with another secret. */
function derivedSecrets(keyPepper: Uint8Array): NamedSecrets {
  const kid = hmacSha256(keyPepper, 'webhook-secrets kid').toString('hex').slice(0, KID_HEX)
  return [{ kid: `pepper-${kid}`, secret: hmacSha256(keyPepper, 'webhook-secrets') }]
}

const KID_HEX = 8

function storedSecrets(dataDir: string): StoredSecrets {
  const file = join(dataDir, FILE)
  if (!exists(file)) createSecrets(file, dataDir)
  try {
    // Also if another process created it: a key must not reach the disk before its pepper.
    syncFolderSync(dataDir)
    const { cursor_secrets, key_pepper, webhook_secrets } = parseJson(readFileSync(file, 'utf8'))
    const cursorSecrets = parseNamedSecrets(String(cursor_secrets))
    const keyPepper = parseSecret(String(key_pepper))
    const webhookSecrets = parseNamedSecrets(String(webhook_secrets))
    const isIncomplete = webhook_secrets !== undefined && !webhookSecrets
    if (!cursorSecrets || !keyPepper || isIncomplete)
      throw new Error('it contains an invalid secret')
    return { cursorSecrets, keyPepper, webhookSecrets }
  } catch (cause) {
    throw unusable(file, cause)
  }
}

/** Unlike `existsSync`, throws where this process may not search the folder. */
function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    throw unusable(file, cause)
  }
}

/** Intact secrets must not be removed only because another user owns them. */
function unusable(file: string, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException
  const isForbidden = code === 'EACCES' || code === 'EPERM'
  const advice = isForbidden ? OWNER_ADVICE : CONTENT_ADVICE
  return new Error(`cannot use the secrets in ${file}: ${message}. ${advice}`, { cause })
}

const OWNER_ADVICE =
  'Let the user of this process read the file: chown the folder and the file to that user, and chmod 700 the folder and 600 the file'
const CONTENT_ADVICE =
  'Restore the file, or remove it and set CURSOR_SECRETS and KEY_PEPPER; without the old pepper, all existing API keys are invalid, and without webhook_secrets, those of all webhook endpoints'

/** Replaces the error of the parser, which quotes the secret text. */
function parseJson(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
}

/** The advice differs from that for a file that exists: here there is none to restore. */
function createSecrets(file: string, dataDir: string): void {
  try {
    createFolder(dataDir)
    createAtomically(file, dataDir)
  } catch (cause) {
    const isNoFolder = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    const advice = isNoFolder ? NO_FOLDER_ADVICE : CREATION_ADVICE
    throw new Error(`cannot create ${file}: ${errorText(cause)}. ${advice}`, { cause })
  }
}

const CREATION_ADVICE = 'Free space in DATA_DIR, or let this process write there'

/** Hard-links a complete file into place, so that concurrent starts agree on one file. */
function createAtomically(file: string, dataDir: string): void {
  const draft = join(dataDir, `.${FILE}.${process.pid}.${randomBytes(4).toString('hex')}`)
  const fresh = {
    cursor_secrets: generateNamedSecret(),
    key_pepper: randomBytes(32).toString('base64'),
    webhook_secrets: generateNamedSecret(),
  }
  try {
    writeFileSync(draft, `${JSON.stringify(fresh, null, 2)}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true, // The content must reach the disk before the link.
    })
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true }) // A full disk leaves an empty one, or none.
  }
}

/** Its name is unlike any configured one, and that of any other folder. */
function generateNamedSecret(): string {
  const kid = `file-${randomBytes(KID_HEX / 2).toString('hex')}`
  return `${kid}:${randomBytes(32).toString('base64')}`
}
