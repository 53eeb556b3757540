import { dirname } from 'node:path'
import { ApiError, OrdersError, UnexpectedAnswerError, UsageError } from '../client/client.ts'
import { optionOf } from './export/filters.ts'
import { Failure, UsageFault } from './faults.ts'

export const FAILED = 1
export const USAGE = 2

export interface Explanation {
  /** For the person at the terminal: what happened and what to do. */
  message: string
  exitCode: typeof FAILED | typeof USAGE
}

/** What the operating system says, in the words of who runs the command. */
const SYSTEM: Readonly<Record<string, string>> = {
  ENOSPC: 'O disco está cheio: libere espaço, ou escolha outro lugar',
  EDQUOT: 'A cota de disco acabou: libere espaço, ou escolha outro lugar',
  EFBIG:
    'O arquivo chegou ao tamanho máximo que o sistema permite: escolha outro lugar, ou filtros',
  EACCES: 'Sem permissão: escolha uma pasta em que você possa escrever',
  EPERM: 'Sem permissão: feche o arquivo se ele estiver aberto em outro programa',
  EBUSY: 'O arquivo está em uso: feche-o no outro programa',
  EROFS: 'Este disco é só de leitura: escolha outro lugar',
  ENOENT: 'A pasta não existe: crie a pasta antes, ou escolha outra',
  ENOTDIR: 'O caminho passa por um arquivo que não é uma pasta',
  EISDIR: 'O destino é uma pasta: escolha o nome de um arquivo',
  ENAMETOOLONG: 'O nome do arquivo é comprido demais',
  EIO: 'O disco falhou ao ler ou escrever',
}

/** The same of SQLite, by its primary result codes. */
const SQLITE: Readonly<Record<number, string>> = {
  1: 'O banco não tem o que uma cópia de pedidos tem: mova o arquivo e sincronize de novo',
  5: 'Outro programa está escrevendo neste banco: feche-o e tente de novo',
  8: 'Sem permissão para escrever neste banco',
  10: SYSTEM['EIO'] as string,
  11: 'O banco está danificado: mova o arquivo e sincronize de novo',
  13: SYSTEM['ENOSPC'] as string,
  14: 'Não foi possível abrir o banco: confira a pasta e as permissões',
  26: 'O arquivo não é um banco SQLite: escolha outro nome',
}

/** What to tell of an error, and how to exit with it. */
export function explain(error: unknown): Explanation {
  if (error instanceof UsageFault) {
    const more = error.command === null ? '' : `\nAjuda: orders ${error.command} --help`
    return { message: error.message + more, exitCode: USAGE }
  }
  if (error instanceof Failure) return { message: error.message, exitCode: FAILED }
  if (error instanceof UsageError) return { message: error.message, exitCode: USAGE }
  if (error instanceof OrdersError) return explainAnswer(error)
  return { message: explainSystem(error), exitCode: FAILED }
}

function explainAnswer(error: OrdersError): Explanation {
  const option = error instanceof ApiError ? optionOf(error.param) : null
  if (option !== null) return { message: `${option}: ${error.message}`, exitCode: USAGE }
  const isTraceable = error instanceof ApiError || error instanceof UnexpectedAnswerError
  const trace = isTraceable && error.requestId !== null ? ` (requisição ${error.requestId})` : ''
  return { message: `${error.message}${trace}`, exitCode: FAILED }
}

function explainSystem(error: unknown): string {
  if (!(error instanceof Error)) return `Erro inesperado: ${error}`
  const { code, path, errcode } = error as NodeJS.ErrnoException & { errcode?: number }
  const known = code === 'ERR_SQLITE_ERROR' ? SQLITE[Number(errcode) & 0xff] : SYSTEM[code ?? '']
  const told = known ?? 'Erro inesperado'
  // Where there is no folder, or none that may be written to, the file in it is no news.
  const isOfFolder = ['ENOENT', 'EACCES', 'EROFS'].includes(code ?? '')
  const where = path === undefined ? '' : `${isOfFolder ? dirname(path) : path}: `
  return `${where}${told}. (${error.message})`
}
