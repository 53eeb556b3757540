/**
 * Runs a call to a service behind this one and sees how long it takes and whether it fails, without
 * changing anything about it: what metrics and traces have in common.
 */
export type Instrument<Operation extends string> = <T>(
  operation: Operation,
  call: () => Promise<T>,
) => Promise<T>

/** Nobody looks. */
export const noopInstrument: Instrument<string> = (_operation, call) => call()

/** Both see every call; where there is no second one, the first alone. */
export function combineInstruments<Operation extends string>(
  first: Instrument<Operation>,
  second: Instrument<Operation> | undefined,
): Instrument<Operation> {
  if (second === undefined) return first
  return (operation, call) => first(operation, () => second(operation, call))
}
