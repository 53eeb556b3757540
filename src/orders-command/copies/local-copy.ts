import type { OrderCopy } from '../../client/client.ts'

/** A copy on this machine, open for this process alone. */
export interface LocalCopy extends Required<OrderCopy> {
  /** Orders that are new or were another before, since it was opened. */
  changes(): number
  /** Lets others have it. */
  close(): Promise<void>
}

export const busyCopy = (name: string) => `Outro processo já sincroniza ${name}.`
