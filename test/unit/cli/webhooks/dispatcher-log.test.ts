import { type Level, pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createDispatcherLog } from '../../../../src/cli/webhooks/dispatcher-log.ts'
import type {
  AttemptReport,
  Notice,
} from '../../../../src/webhooks/dispatcher/dispatcher-events.ts'

/** A log, and its lines so far with the name of their level. */
function open() {
  const lines: Record<string, unknown>[] = []
  const options = { base: null, timestamp: false, formatters: { level } }
  const logger = pino(options, { write: (line: string) => lines.push(JSON.parse(line)) })
  return { log: createDispatcherLog(logger), lines }
}

const level = (name: string) => ({ level: name as Level })

const FAILED: AttemptReport = {
  deliveryId: 'dlv_1',
  endpointId: 'we_1',
  accountId: 'acc_1',
  eventId: 'evt_1',
  type: 'order.paid',
  attempt: 2,
  recordedAt: 1,
  startedAt: 2,
  endedAt: 3,
  status: 503,
  error: 'the response has status 503',
  outcome: 'retrying',
  isProbe: false,
}

const NOTICE: Notice = {
  kind: 'failing_1h',
  endpointId: 'we_1',
  accountId: 'acc_1',
  failingSince: 5,
  disabledReason: null,
}

describe('the log of a dispatcher', () => {
  it.each(['retrying', 'failed', 'expired'] as const)(
    'the log has one line for an attempt that is %s, with ids and the reason alone',
    (outcome) => {
      const { log, lines } = open()
      log.onAttempt({ ...FAILED, outcome })
      expect(lines).toEqual([
        {
          level: 'info',
          endpoint_id: 'we_1',
          delivery_id: 'dlv_1',
          event_id: 'evt_1',
          event_type: 'order.paid',
          attempt: 2,
          status: 503,
          error: 'the response has status 503',
          outcome,
          msg: 'a webhook was not accepted',
        },
      ])
    },
  )

  it('the log has no line for what succeeds', () => {
    const { log, lines } = open()
    log.onAttempt({ ...FAILED, outcome: 'delivered', status: 200, error: null })
    expect(lines).toEqual([])
  })

  it('the log reports the start and the end of delivering, and no end without a start', () => {
    const { log, lines } = open()
    log.onDispatcher(false)
    log.onStandby('waiting for another process that delivers webhooks (host 1) to end')
    log.onDispatcher(true)
    log.onLeaseLost()
    log.onDispatcher(false)
    log.onDispatcher(false)
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the dispatcher of webhooks is on standby',
      'this process delivers webhooks now',
      'this dispatcher did not renew its lease in time: another one may have taken over',
      'this process delivers webhooks no longer',
    ])
    expect(lines[0]).toMatchObject({ reason: expect.stringContaining('host 1') })
  })

  it('the log warns once of an outage, with its reason, and reports the recovery', () => {
    const { log, lines } = open()
    log.onOutage('no response within 500 ms')
    log.onRecovered()
    expect(lines).toMatchObject([
      { level: 'warn', reason: 'no response within 500 ms' },
      { level: 'info', msg: 'the store responds again' },
    ])
  })

  it('the log reports that a circuit breaker opens and closes', () => {
    const { log, lines } = open()
    log.onBreaker('we_1', true)
    log.onBreaker('we_1', false)
    expect(lines).toMatchObject([
      { level: 'warn', endpoint_id: 'we_1', msg: expect.stringContaining('breaker open') },
      { level: 'info', endpoint_id: 'we_1', msg: expect.stringContaining('breaker closed') },
    ])
  })

  it.each([
    ['failing_1h', null, 'for an hour'],
    ['failing_24h', null, 'for 24 hours'],
    ['disabled', 'failing', 'was disabled'],
    ['disabled', 'gone', 'was disabled'],
  ] as const)('the log warns of the notice %s (%s)', (kind, disabledReason, text) => {
    const { log, lines } = open()
    log.onNotice({ ...NOTICE, kind, disabledReason })
    expect(lines).toEqual([
      {
        level: 'warn',
        endpoint_id: 'we_1',
        account_id: 'acc_1',
        failing_since_ms: 5,
        disabled_reason: disabledReason,
        msg: expect.stringContaining(text),
      },
    ])
  })

  it('the log names the setting whose receiver did not accept a notice', () => {
    const { log, lines } = open()
    log.onNoticeFailed(NOTICE, 'the response has status 500')
    expect(lines).toMatchObject([
      {
        level: 'error',
        endpoint_id: 'we_1',
        reason: 'the response has status 500',
        msg: 'OPERATOR_WEBHOOK_URL did not accept a notice',
      },
    ])
  })
})
