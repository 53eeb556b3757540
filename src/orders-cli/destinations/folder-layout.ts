import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder } from '../../lib/files/private-files.ts'
import { replaceFile } from '../atomic-file.ts'
import { CommandError } from '../errors.ts'
import type { Waiting } from '../lock/foreign-lock.ts'
import { acquireLock, type Lock } from '../lock/lock.ts'
import { busyMessage } from './local-store.ts'

/** The content of `.sync/copy.json`, which marks a folder as a store. */
const MARK = { format: 'orders-copy', version: 1 }
const OURS = '.sync'

/**
 * Locks the folder of a store, and creates the store in an empty or missing folder.
 * @throws CommandError if the folder has other files, which stay untouched, or another process
 *   holds the lock
 */
export async function claimFolder(
  folder: string,
  waiting: Waiting,
): Promise<{ own: string; lock: Lock }> {
  const own = join(folder, OURS)
  const isNew = await inspect(folder, own)
  createFolder(own)
  const lock = await acquireLock(join(own, 'lock-'), busyMessage(folder), waiting)
  try {
    await rm(join(own, 'tmp'), { recursive: true, force: true })
    await mkdir(join(own, 'tmp'), { mode: 0o700 })
    await mkdir(join(folder, 'orders'), { recursive: true, mode: 0o700 })
    if (isNew) await replaceFile(join(own, 'copy.json'), `${JSON.stringify(MARK)}\n`)
    return { own, lock }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Whether the store is new. */
async function inspect(folder: string, own: string): Promise<boolean> {
  const names = await readdir(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [] as string[]
    // Otherwise its path passes through a file.
    const isFile = error.code === 'ENOTDIR' && (await stat(folder).catch(() => null)) !== null
    if (isFile) {
      throw new CommandError(
        `${folder} é um arquivo. Para um banco SQLite escreva sqlite:${folder}.`,
      )
    }
    throw error
  })
  const text = await readFile(join(own, 'copy.json'), 'utf8').catch(() => null)
  if (text === null) {
    const foreign = names.find((name) => name !== OURS && name !== 'orders')
    const orders = names.includes('orders') ? await readdir(join(folder, 'orders')) : []
    if (foreign === undefined && orders.length === 0) return true
    throw new CommandError(
      `${folder} tem outros arquivos (${foreign ?? 'orders'}) e não é uma cópia de pedidos. Escolha uma pasta vazia ou nova.`,
    )
  }
  const { format, version } = parseMark(text)
  if (format === MARK.format && version === MARK.version) return false
  throw new CommandError(
    `${folder} é uma cópia de outra versão deste comando. Atualize o comando, ou escolha outra pasta.`,
  )
}

function parseMark(text: string): Partial<typeof MARK> {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

const MAX_NAME_LENGTH = 200

/**
 * The path of an order's file: one of 256 folders, so that none gets too many files, and a name
 * that is unique also on case-insensitive file systems: `ord_aB` is `ord_a+b.json`.
 * @throws CommandError for an id that cannot be a file name
 */
export function orderFile(id: unknown): { shard: string; name: string } {
  if (typeof id !== 'string' || id === '') {
    throw new CommandError('Veio um pedido sem id. Confira se o endereço é o desta API.')
  }
  const name = id.replace(/[^a-z0-9_-]/gu, (character) =>
    /[A-Z]/.test(character) ? `+${character.toLowerCase()}` : percent(character),
  )
  if (name.length > MAX_NAME_LENGTH)
    throw new CommandError(`O id "${id}" é comprido demais para um arquivo.`)
  return { shard: shardOf(id), name: `${name}.json` }
}

const percent = (character: string) => Buffer.from(character).toString('hex').replace(/../g, '%$&')

/** Two hexadecimal digits of FNV-1a, which is fast enough to hash a million ids per full sync. */
function shardOf(id: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  return ((hash ^ (hash >>> 16)) & 0xff).toString(16).padStart(2, '0')
}
