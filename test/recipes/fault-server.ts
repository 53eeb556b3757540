import {
  type Fault,
  type RecordedRequest,
  type ServerResponseStub,
  startFaultServer,
} from '../support/http/fault-server.ts'

/** A request of a recipe and its response. */
export interface Called {
  path: string
  query: Readonly<Record<string, string>>
  authorization: string | undefined
  status: RecordedRequest['outcome']
  /** The ids of the orders in the response; empty when the response is not a page. */
  ids: readonly string[]
}

/** Read at the start of a run; not counted as a page. */
const ACCOUNT_PATH = '/v1/account'

/** A proxy before the service: records requests and can send an edge's errors after a page. */
export async function startRecipeFaultServer(serviceUrl: string) {
  interface Plan {
    atPage: number
    answer: () => Promise<Fault | undefined>
    /** Not for a request of the account, of which an empty bucket causes several. */
    isOfOrders?: boolean
  }
  const planned: Plan[] = []
  const faultServer = await startFaultServer(serviceUrl, async ({ pathname }) => {
    const passed = orderRequests().filter(({ outcome }) => outcome === 200).length
    const due = planned.findIndex(
      ({ atPage, isOfOrders }) => atPage <= passed && !(isOfOrders && pathname === ACCOUNT_PATH),
    )
    const [plan] = due === -1 ? [] : planned.splice(due, 1)
    return plan?.answer()
  })

  const orderRequests = () =>
    faultServer.requests.filter(({ url }) => url.pathname !== ACCOUNT_PATH)

  /** Plans a change of the bodies of the next ten responses. */
  function rewrite(change: (body: string) => string) {
    const fault = ({ body, ...response }: ServerResponseStub) => ({
      ...response,
      body: change(body ?? ''),
    })
    planned.push(...Array.from({ length: 10 }, () => ({ atPage: 0, answer: async () => fault })))
  }

  return {
    baseUrl: faultServer.baseUrl,
    close: faultServer.close,

    /** The requests of orders since the last reset, oldest first. */
    get requests(): Called[] {
      return orderRequests().map(calledOf)
    },

    /** The outcomes of these requests in sequence. */
    statuses: () => orderRequests().map(({ outcome }) => outcome),

    /** Resets the record and the page count. */
    forget() {
      faultServer.forget()
      planned.length = 0
    },

    /**
     * Plans the response to the next request after `atPage` complete pages. Plans for one page
     * queue.
     */
    answer(atPage: number, ...answers: readonly Fault[]) {
      planned.push(...answers.map((answer) => ({ atPage, answer: async () => answer })))
    },

    /** Plans the response to the first request of orders. */
    answerFirstPage(answer: Fault) {
      planned.push({ atPage: 0, answer: async () => answer, isOfOrders: true })
    },

    /**
     * Sends half of an emoji in place of each U+FFFD in the next ten responses, as of an order that
     * an earlier release stored.
     */
    halveEmoji: () => rewrite((body) => body.replaceAll('\ufffd', '\\ud83d')),

    /** Breaks the cursor in the next ten responses, so that the service rejects it. */
    breakCursors: () =>
      rewrite((body) => body.replace(/"next_cursor":"[^"]*"/, '"next_cursor":"AQNraWQ"')),

    /**
     * Rejects all requests for `seconds`, from the next one after `atPage` complete pages on. The
     * returned function counts them.
     */
    rejectFor(
      atPage: number,
      seconds: number,
      answer: ServerResponseStub = { status: 429, headers: { 'retry-after': `${seconds}` } },
    ): () => number {
      let rejected = 0
      const reject = (untilMs: number) => async () => {
        if (Date.now() >= untilMs) return undefined
        rejected += 1
        planned.push({ atPage, answer: reject(untilMs) })
        return answer
      }
      planned.push({ atPage, answer: () => reject(Date.now() + seconds * 1_000)() })
      return () => rejected
    },

    /**
     * Runs before the next request after `atPage` complete pages. The request is forwarded, unless
     * `action` returns its response.
     */
    before(atPage: number, action: () => Promise<Fault | undefined>) {
      planned.push({ atPage, answer: action })
    },
  }
}

function calledOf({ url, headers, outcome, body }: RecordedRequest): Called {
  return {
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    authorization: headers.authorization,
    status: outcome,
    ids: outcome === 200 ? idsOf(body) : [],
  }
}

/** Empty when the body is not a page, for example a truncated one. */
function idsOf(body: string | undefined): string[] {
  try {
    const { data } = JSON.parse(body ?? '') as { data: { id: string }[] }
    return data.map(({ id }) => id)
  } catch {
    return []
  }
}
