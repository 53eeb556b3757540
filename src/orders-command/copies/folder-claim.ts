import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../atomic-file.ts'
import { Failure } from '../faults.ts'
import { type Lock, takeLock } from '../lock.ts'
import { busyCopy } from './local-copy.ts'

/** What says that a folder is a copy, in which form. */
const MARK = { format: 'orders-copy', version: 1 }
const OURS = '.sync'

/**
 * Takes a folder for a copy: one that is a copy already, or is empty, or is not there.
 * @throws Failure where something else is in it, which stays as it is, or another process is at work
 */
export async function claimFolder(folder: string): Promise<{ own: string; lock: Lock }> {
  const own = join(folder, OURS)
  const isNew = await inspect(folder, own)
  await mkdir(own, { recursive: true, mode: 0o700 })
  const lock = await takeLock(join(own, 'lock-'), busyCopy(folder))
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

/** Whether a copy is to be begun there. */
async function inspect(folder: string, own: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [] as string[]
    if (error.code === 'ENOTDIR') {
      throw new Failure(`${folder} é um arquivo. Para um banco SQLite escreva sqlite:${folder}.`)
    }
    throw error
  })
  const text = await readFile(join(own, 'copy.json'), 'utf8').catch(() => null)
  if (text === null) {
    const strange = names.find((name) => name !== OURS && name !== 'orders')
    const orders = names.includes('orders') ? await readdir(join(folder, 'orders')) : []
    if (strange === undefined && orders.length === 0) return true
    throw new Failure(
      `${folder} tem outros arquivos (${strange ?? 'orders'}) e não é uma cópia de pedidos. Escolha uma pasta vazia ou nova.`,
    )
  }
  const mark = parse(text)
  if (mark?.format === MARK.format && mark.version === MARK.version) return false
  throw new Failure(
    `${folder} é uma cópia de outra versão deste comando. Atualize o comando, ou escolha outra pasta.`,
  )
}

function parse(text: string): Partial<typeof MARK> | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
