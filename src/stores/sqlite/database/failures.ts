import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { isFolder, NO_FOLDER_ADVICE } from '../../../lib/files/private-files.ts'

export const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_PROTOCOL = 15
export const SQLITE_SCHEMA = 17
const SQLITE_NOTADB = 26

const DAMAGED_ADVICE =
  '. The file is damaged: stop every process of the service, and move the file and its -wal and -shm away. Then restore its backup, or run "index init --after-loss" where orders.db or keys.db has none'
/** A lock file has no content. */
const LOCK_ADVICE =
  '. Stop every process of the service, and remove the file: the next one creates it'
/** On a full disk, SQLite reports either. */
const FULL_ADVICE = '. Free space in DATA_DIR; where there is enough, check the disk'

/** As after a restore by another user. */
const OWNER_ADVICE =
  '. Let the user of this process write DATA_DIR: chown the folder and its files to that user, and chmod 700 the folder and 600 the files'

/** As a container engine creates it where the file of a bind mount is missing. */
const FOLDER_ADVICE = '. It is a folder: move it away, and restore or create the file in its place'

/** The next step after each failure of a file that ends, by itself or by an operator. */
const ADVICE: ReadonlyMap<number | undefined, string> = new Map([
  [SQLITE_BUSY, ''],
  [SQLITE_READONLY, OWNER_ADVICE],
  [SQLITE_IOERR, FULL_ADVICE],
  [SQLITE_CORRUPT, DAMAGED_ADVICE],
  [SQLITE_FULL, FULL_ADVICE],
  [SQLITE_CANTOPEN, OWNER_ADVICE],
  [SQLITE_PROTOCOL, ''],
  [SQLITE_SCHEMA, ''],
  [SQLITE_NOTADB, DAMAGED_ADVICE],
])

const DAMAGE_CODES: readonly unknown[] = [SQLITE_CORRUPT, SQLITE_NOTADB]

/** The low byte of an extended result code is the primary one. */
const PRIMARY_CODE = 0xff
/** Errors of the file system, such as when it creates DATA_DIR, that SQLite reports likewise. */
const SYSTEM_CODES: ReadonlyMap<string | undefined, number> = new Map([
  ['ENOSPC', SQLITE_FULL],
  ['EDQUOT', SQLITE_FULL],
  ['EACCES', SQLITE_CANTOPEN],
  ['EPERM', SQLITE_CANTOPEN],
  ['EROFS', SQLITE_READONLY],
])

/** The primary result code of SQLite of an error or its cause, or that of the file system. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, code, cause } = error as Error & { errcode?: number; code?: string }
  if (errcode !== undefined) return errcode & PRIMARY_CODE
  return SYSTEM_CODES.get(code) ?? resultCode(cause)
}

/** The next step after an error of a file, as sentences that follow its message; may be empty. */
export function adviceAfter(file: string, error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return `. ${NO_FOLDER_ADVICE}`
  if (isReadableFolder(file)) return FOLDER_ADVICE
  if (isDamage(error) && file.endsWith('.lock')) return LOCK_ADVICE
  return ADVICE.get(resultCode(error)) ?? ''
}

function isReadableFolder(path: string): boolean {
  try {
    return isFolder(path)
  } catch {
    return false // The first error says why.
  }
}

/** Whether SQLite found the file damaged. */
export const isDamage = (error: unknown): boolean => DAMAGE_CODES.includes(resultCode(error))

/** Whether another process holds the lock that the call needs. */
export const isBusy = (error: unknown): boolean => resultCode(error) === SQLITE_BUSY

/** The error of a call that failed, as Unavailable when the failure is temporary or damage. */
export function toUnavailable(file: string, error: unknown): unknown {
  if (error instanceof Unavailable) return error
  const message = failureMessage(file, error)
  return message === undefined ? error : new Unavailable(message, { cause: error })
}

/** The same for a command, which ends with the error. */
export function toNamedError(file: string, error: unknown): unknown {
  const message = failureMessage(file, error)
  return message === undefined ? error : new Error(message, { cause: error })
}

/** An error whose cause is the failure has the file and the advice already. */
function failureMessage(file: string, error: unknown): string | undefined {
  if (!(error instanceof Error) || !ADVICE.has(resultCode(error))) return undefined
  const isOwn = resultCode(error.cause) === undefined
  return isOwn ? `${file}: ${error.message}${adviceAfter(file, error)}` : error.message
}
