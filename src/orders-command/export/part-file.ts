import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { PRIVATE, replaceFile, syncFolder } from '../atomic-file.ts'
import { Failure } from '../faults.ts'
import { takeLock } from '../lock.ts'
import { type Asked, beginState, differences, type PartState, parseState } from './part-state.ts'

/** A file that is being exported: under another name until it is whole. */
export interface PartFile {
  state(): PartState
  /** Whether it goes on from where another process came to. */
  isResumed: boolean
  /** Adds a page, and then keeps where the next one begins. */
  append(text: string, cursor: string | null, orders: number): Promise<void>
  /** Gives the whole file its name. */
  finish(): Promise<void>
  /** Lets go of it; where no page is in, nothing stays behind. */
  close(): Promise<void>
}

/**
 * Opens `<file>.part` and its state `<file>.part.json`, for this process alone.
 * @throws Failure where an unfinished one must not be touched, or cannot be gone on with
 */
export async function openPartFile(
  file: string,
  asked: Asked,
  isResuming: boolean,
): Promise<PartFile> {
  const target = resolve(file)
  const [part, stateFile] = [`${target}.part`, `${target}.part.json`]
  await refuseOddTargets(file, target)
  const lock = await takeLock(`${target}.lock-`, `Outro processo já exporta para ${file}.`)
  let handle: FileHandle | undefined
  try {
    const left = await leftBehind(file, { part, stateFile }, asked, isResuming)
    let state = left ?? beginState(asked)
    if (left === null) await replaceFile(stateFile, JSON.stringify(state))
    handle = await open(part, left === null ? 'w' : 'r+', PRIVATE)
    await handle.truncate(state.bytes)
    const written = handle

    return {
      state: () => state,
      isResumed: left !== null,
      async append(text, cursor, orders) {
        const bytes = Buffer.from(text)
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
      async finish() {
        await rename(part, target).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error
          throw new Failure(
            `${file}.part foi apagado ou movido durante a exportação: exporte de novo.`,
          )
        })
        await syncFolder(dirname(target))
        await rm(stateFile, { force: true })
      },
      async close() {
        await written.close()
        const isEmpty = state.bytes === 0 && !state.isListed
        const useless = [`${stateFile}.new`, ...(isEmpty ? [part, stateFile] : [])]
        for (const path of useless) await rm(path, { force: true })
        await lock.release()
      },
    }
  } catch (error) {
    await handle?.close()
    await lock.release()
    throw error
  }
}

/** A device or a folder under that name would be replaced, or not be written to at all. */
async function refuseOddTargets(file: string, target: string): Promise<void> {
  const found = await stat(target).catch(() => null)
  if (found === null || found.isFile()) return
  throw new Failure(
    `${file} não é um arquivo comum. Escolha o nome de um arquivo, ou tire --out para escrever na saída padrão.`,
  )
}

/** The state of an unfinished export that is to be gone on with; `null` where there is none. */
async function leftBehind(
  file: string,
  { part, stateFile }: { part: string; stateFile: string },
  asked: Asked,
  isResuming: boolean,
): Promise<PartState | null> {
  const found = await stat(part).catch(() => null)
  if (found === null) return null
  const text = await readFile(stateFile, 'utf8').catch(() => '')
  const state = parseState(text)
  const anew = `Para começar de novo, apague ou mova ${file}.part.`
  if (state === null) {
    throw new Failure(
      `${file}.part já existe, e falta ao lado um ${file}.part.json que diga de onde continuar. ${anew}`,
    )
  }
  if (state.bytes === 0 && !state.isListed) return null // Killed before its first page: nothing is lost.
  if (!isResuming) {
    throw new Failure(
      `Há uma exportação inacabada em ${file}.part (pedidos prontos: ${state.orders}). Para continuar, repita o comando com --resume. ${anew}`,
    )
  }
  const different = differences(state.asked, asked)
  if (different.length > 0) {
    throw new Failure(
      `Não dá para continuar ${file}.part: o pedido é outro (${different.join('; ')}). Repita as opções de antes. ${anew}`,
    )
  }
  if (found.size < state.bytes) {
    throw new Failure(
      `${file}.part foi mexido: tem ${found.size} bytes, e deveria ter ${state.bytes}. ${anew}`,
    )
  }
  return state
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
