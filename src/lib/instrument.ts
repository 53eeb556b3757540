/**
 * Wraps a call to a backend service to observe its duration and failure, without changing either.
 * Metrics and traces implement it.
 */
export type Instrument<Operation extends string> = <T>(
  operation: Operation,
  call: () => Promise<T>,
) => Promise<T>

/** Observes nothing. */
export const noopInstrument: Instrument<string> = (_operation, call) => call()

/** Applies both instruments to every call; without a second one, only the first. */
export function combineInstruments<Operation extends string>(
  first: Instrument<Operation>,
  second: Instrument<Operation> | undefined,
): Instrument<Operation> {
  if (second === undefined) return first
  return (operation, call) => first(operation, () => second(operation, call))
}
