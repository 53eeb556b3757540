import type { Logger } from 'pino'
import type { DispatcherEvents, Notice } from '../../webhooks/dispatcher/dispatcher-events.ts'

/** Logs the state of a dispatcher and failed attempts; never a URL, a secret or an order. */
export function createDispatcherLog(logger: Logger): DispatcherEvents {
  let isDispatcher = false
  return {
    onOutage: (reason) =>
      logger.warn({ reason }, 'webhooks wait for the store: retrying until it responds'),
    onRecovered: () => logger.info('the store responds again'),
    onStandby: (reason) => logger.info({ reason }, 'the dispatcher of webhooks is on standby'),
    onDispatcher(isNowDispatcher) {
      if (isNowDispatcher) logger.info('this process delivers webhooks now')
      else if (isDispatcher) logger.info('this process delivers webhooks no longer')
      isDispatcher = isNowDispatcher
    },
    onLeaseLost: () =>
      logger.warn(
        'this dispatcher did not renew its lease in time: another one may have taken over',
      ),
    onAttempt({ outcome, endpointId, deliveryId, eventId, type, attempt, status, error }) {
      if (outcome === 'delivered') return
      logger.info(
        {
          endpoint_id: endpointId,
          delivery_id: deliveryId,
          event_id: eventId,
          event_type: type,
          attempt,
          status,
          error,
          outcome,
        },
        'a webhook was not accepted',
      )
    },
    onBreaker(endpointId, isOpen) {
      const endpoint = { endpoint_id: endpointId }
      if (isOpen) logger.warn(endpoint, 'circuit breaker open: only probes are sent')
      else logger.info(endpoint, 'circuit breaker closed: webhooks are sent again')
    },
    onNotice(notice) {
      logger.warn(noticeFields(notice), NOTICE_MESSAGES[notice.kind])
    },
    onNoticeFailed: (notice, reason) =>
      logger.error(
        { ...noticeFields(notice), reason },
        'OPERATOR_WEBHOOK_URL did not accept a notice',
      ),
  }
}

const NOTICE_MESSAGES: Record<Notice['kind'], string> = {
  failing_1h: 'a webhook endpoint has failed for an hour',
  failing_24h: 'a webhook endpoint has failed for 24 hours',
  disabled: 'a webhook endpoint was disabled: its events are held for 7 days',
}

function noticeFields({ endpointId, accountId, failingSince, disabledReason }: Notice) {
  return {
    endpoint_id: endpointId,
    account_id: accountId,
    failing_since_ms: failingSince,
    disabled_reason: disabledReason,
  }
}
