import { describe, expect, it } from 'vitest'
import {
  ApiError,
  ConnectionError,
  EdgeError,
  UnexpectedAnswerError,
  UsageError,
} from '../../../../src/client/client.ts'
import { type Sync, watch } from '../../../../src/orders-command/sync/watch.ts'

const refusal = (status: number) => ({ status, requestId: null, retryAfterSeconds: null })
const api = (status: number) =>
  new ApiError(
    { type: 'api_error', code: 'internal_error', message: 'Recusado.', request_id: '' },
    refusal(status),
  )
const connection = (isFinal: boolean) =>
  new ConnectionError('A rede caiu.', { cause: null, isFinal })
const edge = new EdgeError('O balanceador respondeu 502.', refusal(502))
const portal = new UnexpectedAnswerError('Não é desta API.', refusal(200))
type Synced = Awaited<ReturnType<Sync>>
const nothing: Synced = { kind: 'changes', received: 0, watermark: null, dropped: 0, changes: 0 }

/** Watches through these syncs, an error being one that fails, and then ends with the last of them. */
async function watching(...syncs: (Error | Synced)[]) {
  const said: string[] = []
  const told: string[] = []
  const calls: boolean[] = []
  const status = { show() {}, clear() {}, printLine: (line: string) => said.push(line) }
  const work = async (isFirst: boolean) => {
    calls.push(isFirst)
    const next = syncs[calls.length - 1] ?? new Error('no more')
    if (next instanceof Error) throw next
    return next
  }
  const signal = new AbortController().signal
  const error = await watch(work, 1, { signal, status }, async (line) => told.push(line)).catch(
    (reason: unknown) => reason,
  )
  return { said, told, calls, error }
}

it('a line tells of the first sync, and of those that changed something', async () => {
  const one = { ...nothing, received: 5, changes: 1 }
  const gone = { ...nothing, dropped: 1 }
  const { told } = await watching(nothing, nothing, one, { ...nothing, received: 5 }, gone)
  expect(told.map((line) => line.slice(0, line.indexOf(';')))).toEqual([
    '0 pedidos lidos (0 novos ou alterados), 0 removidos',
    '5 pedidos lidos (1 novo ou alterado), 0 removidos',
    '0 pedidos lidos (0 novos ou alterados), 1 removido',
  ])
})

describe('an outage', () => {
  it('is told once, and its end too', async () => {
    const { said } = await watching(nothing, connection(false), edge, connection(false), nothing)
    expect(said).toEqual([
      'A rede caiu. Continuo tentando; aviso quando voltar.',
      'A API voltou a responder.',
    ])
  })

  it.each([
    ['the edge', edge],
    ['503', api(503)],
    ['429', api(429)],
    ['a certificate that has expired', connection(true)],
    ['a portal', portal],
  ])('may be %s', async (_what, outage) => {
    const { calls } = await watching(nothing, outage, nothing)
    expect(calls).toHaveLength(4)
  })

  it('may be there before the first sync, which then is the first', async () => {
    const { calls } = await watching(connection(false), nothing, nothing)
    expect(calls).toEqual([true, true, false, false])
  })
})

describe('what will not pass by itself ends it', () => {
  it.each([
    ['a key that was revoked', api(401)],
    ['an account that is blocked', api(403)],
    ['a copy of something else', new UsageError('Outra chave.')],
    ['a disk that is full', Object.assign(new Error('full'), { code: 'ENOSPC' })],
  ])('%s', async (_what, end) => {
    const { error, calls } = await watching(nothing, end, nothing)
    expect(error).toBe(end)
    expect(calls).toHaveLength(2)
  })

  it.each([
    ['somebody else', portal],
    ['a certificate that is not trusted', connection(true)],
  ])('%s at an address that has not answered yet', async (_what, end) => {
    const { error } = await watching(end, nothing)
    expect(error).toBe(end)
  })
})
