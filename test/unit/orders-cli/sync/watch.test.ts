import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import {
  ApiError,
  ConnectionError,
  EdgeError,
  UnexpectedResponseError,
  UsageError,
} from '../../../../src/client/client.ts'
import { pauseAfter, type Sync, summary, watch } from '../../../../src/orders-cli/sync/watch.ts'
import { createOrdersProgress } from '../../../../src/orders-cli/terminal/progress.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

const responseWith = (status: number) => ({ status, requestId: null, retryAfterSeconds: null })
const api = (status: number) =>
  new ApiError(
    { type: 'api_error', code: 'internal_error', message: 'Recusado.', request_id: '' },
    responseWith(status),
  )
const connection = (isFinal: boolean) =>
  new ConnectionError('A rede caiu.', { cause: null, isFinal })
const edge = new EdgeError('O balanceador respondeu 502.', responseWith(502))
const retryAfter = (retryAfterSeconds: number) =>
  new EdgeError('Espere.', { ...responseWith(429), retryAfterSeconds })
const portal = new UnexpectedResponseError('Não é desta API.', responseWith(200))
type Synced = Awaited<ReturnType<Sync>>
const nothing: Synced = { kind: 'changes', received: 0, watermark: null, dropped: 0, changes: 0 }

/** Watches through these results, an error being a failed sync, and returns the output. */
async function watching(...syncs: (Error | Synced)[]) {
  return watchingIn({}, ...syncs)
}

async function watchingIn(env: NodeJS.ProcessEnv, ...syncs: (Error | Synced)[]) {
  const printedLines: string[] = []
  const printed: string[] = []
  const calls: boolean[] = []
  const status = { show() {}, clear() {}, printLine: (line: string) => printedLines.push(line) }
  const work = async (isFirst: boolean) => {
    calls.push(isFirst)
    const next = syncs[calls.length - 1] ?? new Error('no more')
    if (next instanceof Error) throw next
    return next
  }
  const signal = new AbortController().signal
  const progress = createOrdersProgress(status, () => 0)
  const error = await watch(work, 1, { signal, progress, env }, async (line) =>
    printed.push(line),
  ).catch((reason: unknown) => reason)
  return { printedLines, printed, calls, error }
}

it('watch prints a line for the first sync, and for syncs with changes', async () => {
  const one = { ...nothing, received: 5, changes: 1 }
  const gone = { ...nothing, dropped: 1 }
  const { printed } = await watching(nothing, nothing, one, { ...nothing, received: 5 }, gone)
  expect(printed.map((line) => line.slice(0, line.indexOf(';')))).toEqual([
    '0 pedidos lidos (0 novos ou alterados), 0 removidos',
    '5 pedidos lidos (1 novo ou alterado), 0 removidos',
    '0 pedidos lidos (0 novos ou alterados), 1 removido',
  ])
})

describe('an outage during a watch', () => {
  it('an outage during a watch is reported once, and so is its end', async () => {
    const { printedLines } = await watching(
      nothing,
      connection(false),
      edge,
      connection(false),
      nothing,
    )
    expect(printedLines).toEqual([
      'A rede caiu. Continuo tentando; aviso quando voltar.',
      'A API voltou a responder.',
    ])
  })

  it.each([
    ['the edge', edge],
    ['503', api(503)],
    ['429', api(429)],
    ['an expired certificate', connection(true)],
    ['a portal', portal],
  ])('an outage during a watch may be caused by %s', async (_what, outage) => {
    const { calls } = await watching(nothing, outage, nothing)
    expect(calls).toHaveLength(4)
  })

  it('an outage during a watch names the variable that makes Node use a proxy', async () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128' }
    const { printedLines } = await watchingIn(env, nothing, connection(false), nothing)
    expect(printedLines[0]).toMatch(/^A rede caiu\. .*NODE_USE_ENV_PROXY=1 .* Continuo tentando/)
  })

  it('an outage during a watch is retried after its Retry-After', async () => {
    const startedAt = performance.now()
    await watching(nothing, retryAfter(0.2), nothing)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(199)
  })

  it.each([
    ['a longer Retry-After', retryAfter(3_600), 3_600_000],
    ['a shorter Retry-After', retryAfter(1), 60_000],
    ['a Retry-After of eleven days', retryAfter(999_999), 7 * 86_400_000],
    ['no Retry-After', edge, 60_000],
    ['no response', connection(false), 60_000],
  ])('the pause of a watch after %s', (_what, error, ms) => {
    expect(pauseAfter(error, 60_000)).toBe(ms)
  })

  it('an outage before the first sync leaves the next sync as the first', async () => {
    const { calls } = await watching(connection(false), nothing, nothing)
    expect(calls).toEqual([true, true, false, false])
  })
})

/** The error of a write to a database that another program has locked. */
function lockedDatabase(): Error {
  const folder = createTestFolder()
  const [holder, waiting] = [0, 0].map(() => new DatabaseSync(join(folder, 'copy.db')))
  try {
    holder?.exec('BEGIN IMMEDIATE')
    waiting?.exec('BEGIN IMMEDIATE')
  } catch (error) {
    return error as Error
  } finally {
    holder?.close()
    waiting?.close()
  }
  throw new Error('the lock had no effect')
}

describe('a lock of another program on the database of a watch', () => {
  it('is reported once with its cause, and so is its end', async () => {
    const locked = lockedDatabase()
    const { printedLines, calls } = await watching(nothing, locked, locked, nothing)
    expect(calls).toHaveLength(5)
    expect(printedLines).toEqual([
      'Outro programa mantém este banco travado: feche-o. Continuo tentando; aviso quando conseguir gravar.',
      'O banco voltou a aceitar gravações.',
    ])
  })

  it('is reported beside an outage of the API, and so is the end of both', async () => {
    const { printedLines } = await watching(nothing, edge, lockedDatabase(), nothing)
    expect(printedLines).toEqual([
      'O balanceador respondeu 502. Continuo tentando; aviso quando voltar.',
      expect.stringMatching(/^Outro programa mantém este banco travado/),
      'A API voltou a responder.',
      'O banco voltou a aceitar gravações.',
    ])
  })

  it('does not end the first sync of a watch', async () => {
    const { calls } = await watching(lockedDatabase(), nothing)
    expect(calls).toEqual([true, true, false])
  })
})

describe('a permanent error during a watch', () => {
  it.each([
    ['a revoked key', api(401)],
    ['a blocked account', api(403)],
    ['a store of another account', new UsageError('Outra chave.')],
    ['a full disk', Object.assign(new Error('full'), { code: 'ENOSPC' })],
  ])('a watch ends at %s', async (_what, end) => {
    const { error, calls } = await watching(nothing, end, nothing)
    expect(error).toBe(end)
    expect(calls).toHaveLength(2)
  })

  it.each([
    ['a foreign response', portal],
    ['an untrusted certificate', connection(true)],
  ])('a watch ends at %s before the first sync', async (_what, end) => {
    const { error } = await watching(end, nothing)
    expect(error).toBe(end)
  })
})

const watermark = '2026-03-01T12:00:00.000Z'

describe('the summary', () => {
  it.each([
    [
      { received: 1_200, changes: 14, dropped: 3, watermark },
      '1.200 pedidos lidos (14 novos ou alterados), 3 removidos; cópia em dia até 2026-03-01T12:00:00.000Z',
    ],
    [
      { received: 1, changes: 1, dropped: 1, watermark },
      '1 pedido lido (1 novo ou alterado), 1 removido; cópia em dia até 2026-03-01T12:00:00.000Z',
    ],
    [
      { received: 0, changes: 0, dropped: 0, watermark: null },
      '0 pedidos lidos (0 novos ou alterados), 0 removidos; cópia em dia',
    ],
  ])('the summary of %o is one line', (result, text) => {
    expect(summary(result)).toBe(text)
  })
})
