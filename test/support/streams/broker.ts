import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    kafkaBroker: string
  }
}

/** The broker of all tests of the tier, each with its own topics. */
export const sharedBroker = (): string => inject('kafkaBroker')
