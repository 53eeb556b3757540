import type { BenchContext } from '../../context.ts'
import type { PartReport } from '../../report.ts'
import type { ReceiverProcess } from './receiver-process.ts'

/** What a measurement of webhooks needs. */
export interface MeasurementContext extends BenchContext {
  receiver: ReceiverProcess
}

/** One of the measurements of the part `webhooks`; `name` is the value of `--measurement`. */
export interface WebhookMeasurement {
  name: string
  about: string
  measure(context: MeasurementContext, scope: AsyncDisposableStack): Promise<PartReport>
}

/** A dispatcher that sends nothing for so long has lost what is missing. */
export const STALLED_MS = 60_000
/** The results of the last attempts are stored by then. */
export const SETTLED_MS = 500
