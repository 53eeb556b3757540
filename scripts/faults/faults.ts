import type { FaultyProxy } from '../../test/harness/faulty-proxy/faulty-proxy.ts'

/** A network fault of a service, at all of its nodes. */
export interface Fault {
  name: string
  begin(proxy: FaultyProxy): Promise<void> | void
  end(proxy: FaultyProxy): Promise<void> | void
}

type Switches = Partial<Pick<FaultyProxy, 'delayMs' | 'stall' | 'slice' | 'truncateResponses'>>

const HARMLESS: Required<Switches> = {
  delayMs: 0,
  stall: false,
  slice: false,
  truncateResponses: undefined,
}

function toxic(name: string, switches: Switches): Fault {
  return {
    name,
    begin: (proxy) => void Object.assign(proxy, switches),
    end: (proxy) => void Object.assign(proxy, HARMLESS),
  }
}

/** Resets the connection within every response, or within every nth. */
function reset(afterBytes: number, everyNth = 1): Fault {
  const which = everyNth === 1 ? '' : `, 1 response in ${everyNth}`
  return toxic(`reset after ${afterBytes} B${which}`, {
    truncateResponses: { afterBytes, everyNth },
  })
}

const common: readonly Fault[] = [
  {
    name: 'down (refused)',
    begin: (proxy) => proxy.stopListening(),
    end: (proxy) => proxy.listenAgain(),
  },
  toxic('1 s latency', { delayMs: 500 }), // Half for the request, and half for the response.
  toxic('black hole', { stall: true }),
  toxic('sliced bytes', { slice: true }),
]

/**
 * The faults of each service. Response headers of OpenSearch have 150 B; a Redis response has 12 B.
 */
export const faults = {
  OpenSearch: [...common, reset(0), reset(100, 3), reset(1_000, 3), reset(20_000)],
  Redis: [...common, reset(0), reset(1), reset(5, 3)],
} as const satisfies Record<string, readonly Fault[]>

export type FaultyService = keyof typeof faults
