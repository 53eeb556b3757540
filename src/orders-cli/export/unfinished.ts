import { open, readFile, stat } from 'node:fs/promises'
import { CommandError } from '../errors.ts'
import { count } from '../terminal/format-text.ts'
import { differences, type ExportRequest, type PartState, parseState } from './part-state.ts'

/**
 * The state of the unfinished export to resume; `null` if there is none.
 * @throws CommandError if it must not or cannot be resumed
 */
export async function findUnfinished(
  file: string,
  { part, stateFile, head }: { part: string; stateFile: string; head: string },
  request: ExportRequest,
  isResuming: boolean,
): Promise<PartState | null> {
  const found = await stat(part).catch(() => null)
  if (found === null) return null
  const text = await readFile(stateFile, 'utf8').catch(() => '')
  const state = parseState(text)
  const restartHint = restartHintOf(file)
  if (state === null) {
    throw new CommandError(
      `${file}.part já existe, mas falta ${file}.part.json, que guarda o ponto em que ele parou. ${restartHint}`,
    )
  }
  if (state.bytes === 0 && !state.isListed) return null // Killed before its first page.
  if (!isResuming) {
    throw new CommandError(
      `Há uma exportação inacabada em ${file}.part (pedidos prontos: ${state.orders}). Para continuar, repita o comando com --resume. ${restartHint}`,
    )
  }
  const different = differences(state.asked, request)
  if (different.length > 0) {
    throw new CommandError(
      `Não dá para continuar ${file}.part: o pedido é outro (${different.join('; ')}). Repita as opções de antes. ${restartHint}`,
    )
  }
  if (found.size < state.bytes) {
    throw new CommandError(
      `${file}.part foi alterado: tem ${count(found.size, 'byte')}, e deveria ter ${state.bytes.toLocaleString('pt-BR')}. ${restartHint}`,
    )
  }
  // Another version of this program may have other columns, and the rows would be shifted.
  if (!(await startsWith(part, head))) {
    throw new CommandError(
      `Não dá para continuar ${file}.part: as colunas dele não são as desta versão do comando. ${restartHint}`,
    )
  }
  return state
}

/**
 * A file with orders of both kinds would show some customers without their data.
 * @throws CommandError if the key masks personal data, and that of the state does not, or vice
 * versa
 */
export function rejectOtherMask(file: string, { isMasked: before }: PartState, isMasked: boolean) {
  if (before === undefined || before === isMasked) return
  const [old, current] = isMasked
    ? ['com dados pessoais', 'sem eles']
    : ['sem dados pessoais', 'com eles']
  throw new CommandError(
    `Não dá para continuar ${file}.part com esta chave: os pedidos dele foram lidos ${old}, e ela os lê ${current}. Use uma chave com o mesmo acesso. ${restartHintOf(file)}`,
  )
}

const restartHintOf = (file: string) => `Para começar de novo, apague ou mova ${file}.part.`

async function startsWith(path: string, text: string): Promise<boolean> {
  const expected = Buffer.from(text)
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(expected.length), { position: 0 })
    return buffer.subarray(0, bytesRead).equals(expected)
  } finally {
    await handle.close()
  }
}
