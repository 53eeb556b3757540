import { constants } from 'node:os'
import { dirname } from 'node:path'
import {
  ApiError,
  ConnectionError,
  OrdersError,
  UnexpectedResponseError,
  UsageError,
} from '../client/client.ts'
import { optionOf } from './export/filters.ts'
import { commandLine } from './terminal/format-text.ts'

/** An invalid command line: nothing was sent or written. The next step is the help. */
export class CommandLineError extends UsageError {}

/** The command cannot do what was requested; the message is the complete explanation. */
export class CommandError extends Error {}

/** The command failed after part of its work; `hint` is the command that continues. */
export class ResumableError extends Error {
  readonly hint: string

  constructor(cause: unknown, hint: string) {
    super('resumable', { cause })
    this.hint = hint
  }
}

/** A signal ended the command; the exit code follows the convention of shells. */
export class Interruption extends Error {
  readonly exitCode: number

  constructor(signal: NodeJS.Signals) {
    super(signal)
    this.exitCode = 128 + constants.signals[signal]
  }
}

const FAILED = 1
export const USAGE = 2

export interface Explanation {
  /** What failed, why, and the next step. */
  message: string
  exitCode: typeof FAILED | typeof USAGE
}

/** Errors of the operating system, with the next step. */
const SYSTEM: Readonly<Record<string, string>> = {
  ENOSPC: 'O disco está cheio: libere espaço, ou escolha outro lugar',
  EDQUOT: 'A cota de disco acabou: libere espaço, ou escolha outro lugar',
  EFBIG:
    'O arquivo chegou ao tamanho máximo que o sistema permite: escolha outro lugar, ou filtros',
  EACCES: 'Sem permissão: escolha uma pasta em que você possa escrever',
  EPERM:
    'Sem permissão: feche o arquivo se ele estiver aberto em outro programa, ou escolha outra pasta se ele for de outro usuário',
  EBUSY: 'O arquivo está em uso: feche-o no outro programa',
  EROFS: 'Este disco é só de leitura: escolha outro lugar',
  ENOENT: 'A pasta não existe: crie a pasta antes, ou escolha outra',
  ENOTDIR: 'O caminho passa por um arquivo, que não é uma pasta: escolha outra pasta',
  EISDIR: 'O destino é uma pasta: escolha o nome de um arquivo',
  ERR_FS_EISDIR: 'Uma pasta ocupa o nome do arquivo: mova a pasta, ou escolha outro nome',
  EEXIST: 'Outro processo escreve no mesmo arquivo: repita o comando',
  ENAMETOOLONG: 'O nome do arquivo é comprido demais',
  EIO: 'O disco falhou ao ler ou escrever',
}

const SQLITE_BUSY = 5

/** Errors of SQLite, by primary result code. */
const SQLITE: Readonly<Record<number, string>> = {
  1: 'O banco não tem as tabelas de uma cópia de pedidos: mova o arquivo e sincronize de novo',
  [SQLITE_BUSY]: 'Outro programa está escrevendo neste banco: feche-o e tente de novo',
  8: 'Sem permissão para escrever neste banco',
  10: SYSTEM['EIO'] as string,
  11: 'O banco está danificado: mova o arquivo e sincronize de novo',
  13: SYSTEM['ENOSPC'] as string,
  14: 'Não foi possível abrir o banco: confira a pasta e as permissões',
  26: 'O arquivo não é um banco SQLite: escolha outro nome',
}

/**
 * The message and the exit code of an error. `command`: the words that called the command, for its
 * help; `env`: its environment.
 */
export function explain(
  error: unknown,
  command: readonly string[] = ['orders'],
  env: NodeJS.ProcessEnv = {},
): Explanation {
  if (error instanceof CommandError) return { message: error.message, exitCode: FAILED }
  if (error instanceof CommandLineError) {
    const help = commandLine([...command, '--help'])
    return { message: `${error.message}\nAjuda: ${help}`, exitCode: USAGE }
  }
  if (error instanceof UsageError) return { message: error.message, exitCode: USAGE }
  if (error instanceof ConnectionError) {
    // A final failure is of a certificate or of TLS: the address was reached.
    const hint = error.isHttps && !error.isFinal ? proxyHint(env) : ''
    return { message: error.message + hint, exitCode: FAILED }
  }
  if (error instanceof OrdersError) return explainOrdersError(error)
  return { message: explainSystem(error), exitCode: FAILED }
}

/** `fetch` of Node connects directly, unless it is set to use the proxy of the environment. */
function proxyHint(env: NodeJS.ProcessEnv): string {
  const isSet = Boolean(env['HTTPS_PROXY'] || env['https_proxy'])
  const isUsed =
    env['NODE_USE_ENV_PROXY'] === '1' || env['NODE_OPTIONS']?.includes('--use-env-proxy') === true
  return isSet && !isUsed
    ? ' A variável HTTPS_PROXY está definida, mas o Node não a usa. Se a rede exige o proxy, defina também NODE_USE_ENV_PROXY=1 (Node 22.21 ou 24 em diante).'
    : ''
}

const WRONG_KEY =
  'Chave de API recusada: confira ORDERS_API_KEY, ou a chave que você digitou. Se ela foi revogada ou venceu, crie outra.'

function explainOrdersError(error: OrdersError): Explanation {
  const option = error instanceof ApiError ? optionOf(error.param) : null
  if (option !== null) return { message: `${option}: ${error.message}`, exitCode: USAGE }
  // The service's own text describes the header, which the command sends by itself.
  const text = error instanceof ApiError && error.status === 401 ? WRONG_KEY : error.message
  const isTraceable = error instanceof ApiError || error instanceof UnexpectedResponseError
  const trace = isTraceable && error.requestId !== null ? ` (requisição ${error.requestId})` : ''
  return { message: `${text}${trace}`, exitCode: FAILED }
}

/** The primary result code of SQLite; `null` for other errors. */
function sqliteCode(error: unknown): number | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown }
  return code === 'ERR_SQLITE_ERROR' ? Number(errcode) & 0xff : null
}

/** Whether another program holds the lock of a database. */
export const isDatabaseBusy = (error: unknown): boolean => sqliteCode(error) === SQLITE_BUSY

function explainSystem(error: unknown): string {
  if (!(error instanceof Error)) return `Erro inesperado: ${error}`
  const { code = '', path } = error as NodeJS.ErrnoException
  const sqlite = sqliteCode(error)
  const known = sqlite === null ? SYSTEM[code] : SQLITE[sqlite]
  const text = known ?? 'Erro inesperado'
  // Where a folder is missing, unwritable or a file, the name of the file in it is no help.
  const concernsFolder = ['ENOENT', 'ENOTDIR', 'EACCES', 'EROFS'].includes(code)
  const where = path === undefined ? '' : `${concernsFolder ? dirname(path) : path}: `
  return `${where}${text}. (${error.message})`
}
