import { describe, expect, it } from 'vitest'
import { ApiError, ConnectionError, UsageError } from '../../../src/client/client.ts'
import { CommandError, CommandLineError, explain } from '../../../src/orders-cli/errors.ts'

const apiError = (param?: string) =>
  new ApiError(
    {
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: 'Faltam a hora e o fuso.',
      request_id: 'req_1',
      ...(param !== undefined && { param }),
    },
    { status: 400, requestId: 'req_1', retryAfterSeconds: null },
  )
const system = (code: string, path?: string) => Object.assign(new Error('raw'), { code, path })

describe('the message and exit code of an error', () => {
  it.each<[string, unknown, string, number]>([
    ['a usage error', new CommandLineError('Falta X.'), 'Falta X.\nAjuda: orders get --help', 2],
    ['an invalid address', new UsageError('Não é um endereço.'), 'Não é um endereço.', 2],
    ['a failure', new CommandError('Já existe.'), 'Já existe.', 1],
    [
      'an invalid parameter under the name of the option',
      apiError('created_gte'),
      '--created-gte: Faltam a hora e o fuso.',
      2,
    ],
    ['any other API error', apiError('cursor'), 'Faltam a hora e o fuso. (requisição req_1)', 1],
    [
      'a connection error',
      new ConnectionError('A rede caiu.', { cause: null, isFinal: false }),
      'A rede caiu.',
      1,
    ],
    [
      'a full disk',
      system('ENOSPC'),
      'O disco está cheio: libere espaço, ou escolha outro lugar. (raw)',
      1,
    ],
    [
      'a missing folder',
      system('ENOENT', '/a/b.csv.lock-1'),
      '/a: A pasta não existe: crie a pasta antes, ou escolha outra. (raw)',
      1,
    ],
    [
      'a file in the place of a folder',
      system('ENOTDIR', '/a/b.csv.lock-1'),
      '/a: O caminho passa por um arquivo, que não é uma pasta: escolha outra pasta. (raw)',
      1,
    ],
    [
      'a folder in the place of a temporary file',
      system('ERR_FS_EISDIR', '/a/b.csv.part'),
      '/a/b.csv.part: Uma pasta ocupa o nome do arquivo: mova a pasta, ou escolha outro nome. (raw)',
      1,
    ],
    [
      'a file that another process creates',
      system('EEXIST'),
      'Outro processo escreve no mesmo arquivo: repita o comando. (raw)',
      1,
    ],
    [
      'a full disk reported by SQLite',
      Object.assign(system('ERR_SQLITE_ERROR'), { errcode: 13 }),
      'O disco está cheio: libere espaço, ou escolha outro lugar. (raw)',
      1,
    ],
    [
      'a busy database with an extended code',
      Object.assign(system('ERR_SQLITE_ERROR'), { errcode: 261 }),
      'Outro programa está escrevendo neste banco: feche-o e tente de novo. (raw)',
      1,
    ],
    ['an unknown error', new Error('raw'), 'Erro inesperado. (raw)', 1],
    ['a thrown value that is not an Error', 'raw', 'Erro inesperado: raw', 1],
  ])('the command reports %s with its message and exit code', (_what, error, message, exitCode) => {
    expect(explain(error, ['orders', 'get'])).toEqual({ message, exitCode })
  })
})

describe('a failed connection of a command with a proxy in its environment', () => {
  const failed = new ConnectionError('A rede caiu.', { cause: null, isFinal: false })
  const proxy = 'http://proxy:3128'
  const message = (env: NodeJS.ProcessEnv, error: Error = failed) =>
    explain(error, ['orders'], env).message

  it.each<[string, NodeJS.ProcessEnv]>([
    ['HTTPS_PROXY', { HTTPS_PROXY: proxy }],
    ['https_proxy', { HTTPS_PROXY: '', https_proxy: proxy }],
    ['NODE_USE_ENV_PROXY=0', { HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '0' }],
  ])('names the variable that makes Node use it, with %s', (_what, env) => {
    expect(message(env)).toMatch(/^A rede caiu\. A variável HTTPS_PROXY .* NODE_USE_ENV_PROXY=1 /)
  })

  it.each<[string, NodeJS.ProcessEnv]>([
    ['there is none', { HTTPS_PROXY: '' }],
    ['Node uses it', { HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1' }],
    ['an option makes Node use it', { HTTPS_PROXY: proxy, NODE_OPTIONS: '--use-env-proxy' }],
  ])('names no variable when %s', (_what, env) => {
    expect(message(env)).toBe('A rede caiu.')
  })

  it.each([
    ['a certificate', { cause: null, isFinal: true }],
    ['an http address', { cause: null, isFinal: false, isHttps: false }],
  ])('names no variable for the failure of %s', (_what, options) => {
    const error = new ConnectionError('A rede caiu.', options)
    expect(message({ HTTPS_PROXY: proxy }, error)).toBe('A rede caiu.')
  })

  it('names no variable for another error', () => {
    expect(message({ HTTPS_PROXY: proxy }, new CommandError('Já existe.'))).toBe('Já existe.')
  })
})
