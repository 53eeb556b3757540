import type { FoundView } from '../../orders/order-store.ts'
import type { StoredDelivery } from '../deliveries/delivery.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { type AttemptResult, type OrderViews, readViews, type SendDelivery } from './attempts.ts'
import type { Lane } from './lanes/lane.ts'
import type { LaneScheduler } from './lanes/lane-scheduler.ts'
import type { CallSource } from './outage.ts'
import type { ResultWriter } from './result-writer.ts'
import { createSentRecorder, type Flight, type SentRecorderOptions } from './sent-recorder.ts'

/** Starts attempts while lanes and limits allow. */
export interface DeliveryLoop {
  /** Starts what can start, soon. */
  wake(): void
  /** Counts attempts that take long as restricted. */
  tick(): void
  /** Attempts without a response. */
  inFlight(): number
  /** Ignores the results of attempts without a response: they are repeated under the same id. */
  stop(): void
}

export interface DeliveryLoopOptions extends SentRecorderOptions {
  scheduler: LaneScheduler
  endpointById(id: string): Endpoint | undefined
  updateLane(lane: Lane): void
  orders: OrderViews
  send: SendDelivery
  results: Pick<ResultWriter<Flight>, 'add' | 'pending'>
  maySend(): boolean
  /** Reads of orders. */
  source: CallSource
  /** Called with an error that is a bug. */
  onFatal(error: unknown): void
}

/** Views that one call reads. */
const MAX_BATCH = 64
/** Attempts and results that wait for the store: at this number, no attempt starts. */
const MAX_UNSTORED = 2_048
const SLOW_MS = 1_000

/** Creates a loop without attempts. */
export function createDeliveryLoop(options: DeliveryLoopOptions): DeliveryLoop {
  const { scheduler, monotonic, results, updateLane } = options
  const recordAttempt = createSentRecorder(options)
  const flights = new Set<Flight>()
  /** Those that are not slow yet, oldest first. */
  const young = new Set<Flight>()
  let isWoken = false
  let isPaused = false
  let isStopped = false

  function wake(): void {
    if (isWoken || isPaused) return
    isWoken = true
    // Responses that arrive together free their places before the next batch starts.
    setImmediate(() => {
      isWoken = false
      startBatches()
    })
  }

  function startBatches(): void {
    while (!isPaused && options.maySend()) {
      const batch = takeBatch()
      if (batch.length === 0) return
      sendBatch(batch).catch(options.onFatal)
    }
  }

  function takeBatch(): Flight[] {
    const batch: Flight[] = []
    const withoutFlight: Lane[] = []
    const nowMs = monotonic()
    while (batch.length < MAX_BATCH && results.pending() + flights.size < MAX_UNSTORED) {
      const lane = scheduler.next(nowMs)
      if (lane === null) break
      const flight = take(lane, nowMs)
      if (flight === null) withoutFlight.push(lane)
      else {
        batch.push(flight)
        updateLane(lane)
      }
    }
    // Queued again at once, such a lane would keep the process from all other work.
    for (const lane of withoutFlight) updateLane(lane)
    return batch
  }

  function take(lane: Lane, nowMs: number): Flight | null {
    const endpoint = options.endpointById(lane.endpointId)
    if (!isEnabled(endpoint)) {
      lane.isStopped = true
      return null
    }
    const { queue, breaker } = lane
    const isProbe = breaker.isOpen()
    const delivery = isProbe ? takeProbe(lane) : queue.take()
    if (delivery === null) return null
    if (isProbe) breaker.startProbe()
    const share = scheduler.start(lane, nowMs)
    const flight = { lane, endpoint, delivery, isProbe, share, startedAt: 0 }
    flights.add(flight)
    return flight
  }

  function takeProbe({ queue, breaker }: Lane): StoredDelivery | null {
    if (breaker.prefersNew()) return queue.take() ?? queue.takeFailing()
    return queue.takeFailing() ?? queue.take()
  }

  async function sendBatch(batch: readonly Flight[]): Promise<void> {
    const views = await readViews(
      options.orders,
      batch.map(({ delivery }) => delivery),
    ).catch(async (error) => {
      for (const flight of batch) finish(flight, { kind: 'not-sent' })
      isPaused = true
      await options.source.fail(error)
      isPaused = false
      wake()
      return null
    })
    if (views === null) return
    options.source.succeed()
    batch.forEach((flight, index) => {
      send(flight, views[index] ?? null).catch(options.onFatal)
    })
  }

  async function send(flight: Flight, view: FoundView): Promise<void> {
    const { lane, delivery } = flight
    // The endpoint may have changed while the order was read.
    const endpoint = options.endpointById(lane.endpointId)
    // The order may have been removed and created again: the view is then of the new one.
    const isForgotten = lane.queue.isForgotten(delivery)
    if (isForgotten || lane.isStopped || !isEnabled(endpoint)) {
      finish(flight, { kind: 'not-sent' })
      return
    }
    flight.endpoint = endpoint
    flight.startedAt = monotonic()
    young.add(flight)
    finish(flight, await options.send(delivery, endpoint, view))
  }

  function finish(flight: Flight, result: AttemptResult): void {
    if (isStopped) return
    const { lane, delivery } = flight
    flights.delete(flight)
    young.delete(flight)
    scheduler.finish(lane, flight.share)
    if ('attempt' in result) recordAttempt(flight, result)
    else {
      if (flight.isProbe) lane.breaker.cancelProbe()
      if (result.kind === 'not-sent') lane.queue.putBack(delivery)
      else results.add({ context: flight, next: { ...delivery, state: 'canceled', nextAt: null } })
    }
    updateLane(lane)
    wake()
  }

  return {
    wake,
    tick() {
      const slowSince = monotonic() - SLOW_MS
      for (const flight of young) {
        if (flight.startedAt > slowSince) break
        young.delete(flight)
        flight.lane.isSlow = true
        scheduler.markSlow(flight.share)
        updateLane(flight.lane)
      }
      wake()
    },
    inFlight: () => flights.size,
    stop() {
      isStopped = true
    },
  }
}

const isEnabled = (endpoint: Endpoint | undefined): endpoint is Endpoint =>
  endpoint?.disabledReason === null
