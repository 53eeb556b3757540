import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFolder, syncFolder } from '../lib/private-files.ts'
import type { CursorSecret } from '../orders/cursor.ts'
import type { Config } from './config.ts'
import { parseCursorSecrets, parseSecret } from './parsers.ts'

export interface Secrets {
  cursorSecrets: readonly [CursorSecret, ...CursorSecret[]]
  keyPepper: Uint8Array
}

const FILE = 'secrets.json'

/**
 * The configured secrets. Missing ones are generated once and stored in the data folder.
 * @throws Error with the path when the file cannot be created or used
 */
export function loadSecrets(
  config: Pick<Config, 'dataDir' | 'cursorSecrets' | 'keyPepper'>,
): Secrets {
  if (config.cursorSecrets && config.keyPepper) {
    return { cursorSecrets: config.cursorSecrets, keyPepper: config.keyPepper }
  }
  createDataDir(config.dataDir)
  const stored = storedSecrets(config.dataDir)
  return {
    cursorSecrets: config.cursorSecrets ?? stored.cursorSecrets,
    keyPepper: config.keyPepper ?? stored.keyPepper,
  }
}

function createDataDir(dataDir: string): void {
  try {
    createFolder(dataDir)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`cannot create the folder of DATA_DIR, ${dataDir}: ${reason}`, { cause })
  }
}

function storedSecrets(dataDir: string): Secrets {
  const file = join(dataDir, FILE)
  try {
    if (!existsSync(file)) createAtomically(file, dataDir)
    // Also if another process created it: a key must not reach the disk before its pepper.
    syncFolder(dataDir)
    const { cursor_secrets, key_pepper } = parseJson(readFileSync(file, 'utf8'))
    const stored = {
      cursorSecrets: parseCursorSecrets(String(cursor_secrets)),
      keyPepper: parseSecret(String(key_pepper)),
    }
    if (!stored.cursorSecrets || !stored.keyPepper) throw new Error('it contains an invalid secret')
    return { cursorSecrets: stored.cursorSecrets, keyPepper: stored.keyPepper }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `cannot use the secrets in ${file}: ${reason}. Restore the file, or set CURSOR_SECRETS and KEY_PEPPER; without the old pepper, all existing API keys are invalid`,
      { cause },
    )
  }
}

/** Replaces the error of the parser, which quotes the secret text. */
function parseJson(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
}

/** Hard-links a complete file into place, so that concurrent starts agree on one file. */
function createAtomically(file: string, dataDir: string): void {
  const draft = join(dataDir, `.${FILE}.${process.pid}.${randomBytes(4).toString('hex')}`)
  const fresh = {
    cursor_secrets: `k1:${randomBytes(32).toString('base64')}`,
    key_pepper: randomBytes(32).toString('base64'),
  }
  writeFileSync(draft, `${JSON.stringify(fresh, null, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true, // The content must reach the disk before the link.
  })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}
