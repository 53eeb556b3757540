import { describe, expect, it } from 'vitest'
import { ApiError, ConnectionError, UsageError } from '../../../src/client/client.ts'
import { explain } from '../../../src/orders-command/explain.ts'
import { Failure, UsageFault } from '../../../src/orders-command/faults.ts'

const refused = (param?: string) =>
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
const system = (code: string, path?: string) => Object.assign(new Error('told'), { code, path })

describe('an error is explained', () => {
  it.each<[string, unknown, string, number]>([
    [
      'usage, with where to read on',
      new UsageFault('Falta X.', 'get'),
      'Falta X.\nAjuda: orders get --help',
      2,
    ],
    ['an address', new UsageError('Não é um endereço.'), 'Não é um endereço.', 2],
    ['a failure', new Failure('Já existe.'), 'Já existe.', 1],
    [
      'a parameter, as the option',
      refused('created_gte'),
      '--created-gte: Faltam a hora e o fuso.',
      2,
    ],
    [
      'a refusal of something else',
      refused('cursor'),
      'Faltam a hora e o fuso. (requisição req_1)',
      1,
    ],
    [
      'a connection',
      new ConnectionError('A rede caiu.', { cause: null, isFinal: false }),
      'A rede caiu.',
      1,
    ],
    [
      'a full disk',
      system('ENOSPC'),
      'O disco está cheio: libere espaço, ou escolha outro lugar. (told)',
      1,
    ],
    [
      'a folder that is not there',
      system('ENOENT', '/a/b.csv.lock-1'),
      '/a: A pasta não existe: crie a pasta antes, ou escolha outra. (told)',
      1,
    ],
    [
      'a full disk below SQLite',
      Object.assign(system('ERR_SQLITE_ERROR'), { errcode: 13 }),
      'O disco está cheio: libere espaço, ou escolha outro lugar. (told)',
      1,
    ],
    [
      'a busy database, by the extended code',
      Object.assign(system('ERR_SQLITE_ERROR'), { errcode: 261 }),
      'Outro programa está escrevendo neste banco: feche-o e tente de novo. (told)',
      1,
    ],
    ['anything else', new Error('told'), 'Erro inesperado. (told)', 1],
    ['what is no error', 'told', 'Erro inesperado: told', 1],
  ])('%s', (_what, error, message, exitCode) => {
    expect(explain(error)).toEqual({ message, exitCode })
  })
})
