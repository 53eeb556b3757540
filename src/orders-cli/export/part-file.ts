import { constants, type FileHandle, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { syncFolder } from '../../lib/files/sync-folder.ts'
import { openNew, openNoFollow, replaceFile } from '../atomic-file.ts'
import { CommandError, explain } from '../errors.ts'
import type { Waiting } from '../lock/foreign-lock.ts'
import { acquireLock } from '../lock/lock.ts'
import { type ExportRequest, initialState, type PartState } from './part-state.ts'
import { findUnfinished, rejectOtherMask } from './unfinished.ts'

/** An export in progress, under another name until it is complete. */
export interface PartFile {
  state(): PartState
  /** Whether it continues the export of an earlier process. */
  isResumed: boolean
  /**
   * Keeps, until the first order is written, whether the key masks personal data, for a later
   * process that resumes the export.
   * @throws CommandError if the orders so far were read with the other kind of key
   */
  confirmMask(isMasked: boolean): void
  /** Appends a page, and then saves the cursor of the next. */
  append(text: string, cursor: string | null, orders: number): Promise<void>
  /**
   * Renames the complete file to its final name, and returns its size in bytes. `assemble` writes
   * that file from the part first, to the path that it receives.
   * @throws CompleteFileError for a failure after the rename
   */
  finish(assemble?: (part: string, path: string) => Promise<void>): Promise<number>
  /** Releases the lock, and removes the files if no page was written. */
  close(): Promise<void>
}

/** An error after the file has its final name: no export is left to continue. */
export class CompleteFileError extends CommandError {}

/**
 * Opens `<file>.part` and its state `<file>.part.json`, locked by this process. `file` is no
 * symbolic link; `cwd`: where a relative `file` starts; `head`: the text before the first order.
 * @throws CommandError if an unfinished export is there that must not or cannot be resumed
 */
export async function openPartFile(
  file: string,
  request: ExportRequest,
  isResuming: boolean,
  cwd: string,
  { head = '', ...waiting }: Waiting & { head?: string } = {},
): Promise<PartFile> {
  const target = resolve(cwd, file)
  const [part, stateFile] = [`${target}.part`, `${target}.part.json`]
  const assembled = `${part}.new`
  await rejectSpecialFile(file, target)
  const lock = await acquireLock(
    `${target}.lock-`,
    `Outro processo já exporta para ${file}.`,
    waiting,
  )
  let handle: FileHandle | undefined
  try {
    const resumed = await findUnfinished(file, { part, stateFile, head }, request, isResuming)
    let state = resumed ?? initialState(request)
    if (resumed === null) await replaceFile(stateFile, JSON.stringify(state))
    handle = await (resumed === null ? openNew(part) : openNoFollow(part, constants.O_RDWR))
    await handle.truncate(state.bytes)
    const written = handle

    return {
      state: () => state,
      isResumed: resumed !== null,
      confirmMask(isMasked) {
        rejectOtherMask(file, state, isMasked)
        // The key that read earlier orders may be of the other kind, where their state has no mask.
        if (state.bytes === 0) state = { ...state, isMasked }
      },
      async append(text, cursor, orders) {
        const bytes = Buffer.from(text)
        await lock.assertHeld()
        await writeAt(written, bytes, state.bytes)
        await written.sync()
        const next = {
          ...state,
          cursor,
          isListed: cursor === null,
          bytes: state.bytes + bytes.length,
          orders: state.orders + orders,
        }
        await replaceFile(stateFile, JSON.stringify(next))
        state = next
      },
      async finish(assemble) {
        await lock.assertHeld()
        await assemble?.(part, assembled)
        const complete = assemble === undefined ? part : assembled
        await lock.assertHeld()
        await rename(complete, target).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error
          throw new CommandError(
            `${file}.part foi apagado ou movido durante a exportação: exporte de novo.`,
          )
        })
        try {
          await syncFolder(dirname(target))
          // The part first: a state alone never stops a later export, and a part alone does.
          for (const path of [part, stateFile]) await rm(path, { force: true })
          return (await stat(target)).size
        } catch (error) {
          throw new CompleteFileError(
            `${file} está completo, mas algo falhou depois disso: ${explain(error).message}`,
          )
        }
      },
      async close() {
        await written.close()
        const isEmpty = state.bytes === 0 && !state.isListed
        const obsolete = [`${stateFile}.new`, assembled, ...(isEmpty ? [part, stateFile] : [])]
        const isHeld = await lock.assertHeld().then(
          () => true,
          () => false, // Then the files are those of the other process.
        )
        for (const path of isHeld ? obsolete : []) await rm(path, { force: true })
        await lock.release()
      },
    }
  } catch (error) {
    await handle?.close()
    await lock.release()
    throw error
  }
}

/** A device or a folder under that name would be replaced, or could not be written. */
async function rejectSpecialFile(file: string, target: string): Promise<void> {
  const found = await stat(target).catch(() => null)
  if (found === null || found.isFile()) return
  throw new CommandError(
    `${file} não é um arquivo comum. Escolha o nome de um arquivo, ou tire --out para escrever na saída padrão.`,
  )
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
