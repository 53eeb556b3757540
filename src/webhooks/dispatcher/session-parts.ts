import { createSteadyClock } from '../../lib/clock.ts'
import { createEndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { createSendDelivery } from './attempts.ts'
import { createDeliveryLoop } from './delivery-loop.ts'
import type { Notice } from './dispatcher-events.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { createFanOut } from './fan-out.ts'
import { createEndpointLifecycle } from './health/endpoint-lifecycle.ts'
import { createFailingEndpoints } from './health/failing-endpoints.ts'
import { createHealthWriter } from './health/health-writer.ts'
import { createLaneReader } from './lanes/lane-reader.ts'
import { createLaneScheduler } from './lanes/lane-scheduler.ts'
import { createLanes } from './lanes/lanes.ts'
import { createOutage } from './outage.ts'
import { createResultWriter } from './result-writer.ts'
import { createSaveResults } from './save-results.ts'
import type { Flight } from './sent-recorder.ts'

export interface SessionPartsOptions extends DispatcherOptions {
  /** Whether this process may send now. */
  maySend(): boolean
  signal: AbortSignal
  /** Called with an error that is a bug. */
  onFatal(error: unknown): void
}

/** Creates the parts of a session, connected with each other. */
export function createSessionParts(options: SessionPartsOptions) {
  const { stores, clock, monotonic, schedule, events, settings, signal, onFatal } = options
  const { endpoints, deliveries } = stores
  const { createSource } = createOutage({ events, onFatal, signal })
  const changes = createSource()
  // A wall clock that is set back would delay what is due, and send events of an order in reverse.
  const dueClock = createSteadyClock(clock, monotonic)
  const bufferUse = { count: 0, limit: settings.maxBuffered }
  const directory = createEndpointDirectory(endpoints, monotonic)
  const scheduler = createLaneScheduler(settings.limits)
  const health = createHealthWriter(endpoints)

  const reader = createLaneReader({
    deliveries,
    clock: dueClock,
    monotonic,
    bufferUse,
    source: createSource(),
    onRead: (lane) => lanes.update(lane),
  })
  const lanes = createLanes({
    clock: dueClock,
    monotonic,
    bufferUse,
    scheduler,
    reader,
    onReady: () => loop.wake(),
  })
  const lifecycle = createEndpointLifecycle({
    endpoints,
    deliveries,
    directory,
    lanes,
    health,
    clock,
    dueClock,
    longestDelayMs: schedule.longestDelayMs,
    firstDelayMs: schedule.firstDelayMs,
    notify,
    persist,
  })
  const results = createResultWriter<Flight>({
    save: createSaveResults({ deliveries, lifecycle }),
    source: createSource(),
    signal,
    onSaved(batch, saved) {
      for (const [at, { context: flight, next }] of batch.entries()) {
        const { lane, endpoint, delivery } = flight
        const stored = saved[at] ?? null
        if (next.state !== 'failed') {
          lane.queue.settle(delivery, stored, dueClock())
          continue
        }
        lane.unstoredRefusals -= 1
        // After the result, which would otherwise be held like what is pending. Its order waits:
        // another URL may receive it.
        lifecycle.disable(endpoint, 'gone', next.attempts.at(-1)?.at ?? clock(), {
          delivery: stored,
          onDecided(decided) {
            lane.queue.settle(delivery, decided, dueClock())
            lanes.update(lane)
          },
        })
      }
      const settled = new Set(batch.map(({ context }) => context.lane))
      for (const lane of settled) lanes.update(lane)
    },
  })
  const loop = createDeliveryLoop({
    ...options,
    dueClock,
    scheduler,
    endpointById: directory.byId,
    updateLane: lanes.update,
    send: createSendDelivery(options),
    results,
    health,
    source: createSource(),
  })
  const fanOut = createFanOut({
    stores,
    directory,
    lanes,
    clock: dueClock,
    firstDelayMs: schedule.firstDelayMs,
    page: settings.fanOutPage,
  })
  const checkFailing = createFailingEndpoints({
    directory,
    lanes,
    health,
    lifecycle,
    clock,
    giveUpMs: Math.max(settings.giveUpMs, schedule.totalMs),
    notify,
  })

  /** Repeats a change until it succeeds, or the session ends; the next one then finds it. */
  async function persist(work: () => Promise<unknown>): Promise<void> {
    do {
      try {
        await work()
        changes.succeed()
        return
      } catch (error) {
        await changes.fail(error)
      }
    } while (!signal.aborted)
  }

  /** Returns whether the notice was sent, or given up after all its attempts. */
  async function notify(notice: Notice): Promise<boolean> {
    events.onNotice(notice)
    try {
      const reason = (await options.sendNotice?.(notice, signal)) ?? null
      if (reason !== null) events.onNoticeFailed(notice, reason)
      return reason === null || !signal.aborted
    } catch (error) {
      onFatal(error)
      return false
    }
  }

  return {
    createSource,
    directory,
    scheduler,
    health,
    reader,
    lanes,
    lifecycle,
    results,
    loop,
    fanOut,
    checkFailing,
    bufferUse,
  }
}
