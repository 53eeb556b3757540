import {
  type Fault,
  type RecordedRequest,
  type ServerResponseStub,
  startFaultServer,
} from '../support/http/fault-server.ts'

/** What a recipe asked, and what it got. */
export interface Called {
  path: string
  query: Readonly<Record<string, string>>
  authorization: string | undefined
  status: RecordedRequest['outcome']
  /** Of the orders in the answer, in their order; none in an answer that is no page. */
  ids: readonly string[]
}

/** Stands before a service: tells what a recipe asks, and can answer after so many pages as an edge does. */
export async function startRecipeFront(serviceUrl: string) {
  const planned: { atPage: number; answer: () => Promise<Fault | undefined> }[] = []
  const front = await startFaultServer(serviceUrl, async () => {
    const passed = front.requests.filter(({ outcome }) => outcome === 200).length
    const due = planned.findIndex(({ atPage }) => atPage <= passed)
    const [plan] = due === -1 ? [] : planned.splice(due, 1)
    return plan?.answer()
  })

  return {
    baseUrl: front.baseUrl,
    close: front.close,

    /** Everything asked since it was last forgotten. */
    get asked(): Called[] {
      return front.requests.map(calledOf)
    },

    /** Of what was asked, one after the other. */
    statuses: () => front.requests.map(({ outcome }) => outcome),

    /** From here on is told from the beginning, and pages are counted from 0. */
    forget() {
      front.forget()
      planned.length = 0
    },

    /** This happens to the next request after `atPage` whole pages; what is planned for one page, one after the other. */
    answer(atPage: number, ...answers: readonly Fault[]) {
      planned.push(...answers.map((answer) => ({ atPage, answer: async () => answer })))
    },

    /** From the next request after `atPage` whole pages on, the edge refuses all of them for so long, and says so. */
    refuseFor(atPage: number, seconds: number) {
      const answer: ServerResponseStub = { status: 429, headers: { 'retry-after': `${seconds}` } }
      const refuse = (untilMs: number) => async () => {
        if (Date.now() >= untilMs) return undefined
        planned.push({ atPage, answer: refuse(untilMs) })
        return answer
      }
      planned.push({ atPage, answer: () => refuse(Date.now() + seconds * 1_000)() })
    },

    /** Before the next request after `atPage` whole pages is passed on, this happens. */
    before(atPage: number, happen: () => Promise<void>) {
      planned.push({ atPage, answer: () => happen().then(() => undefined) })
    },
  }
}

export type RecipeFront = Awaited<ReturnType<typeof startRecipeFront>>

function calledOf({ url, headers, outcome, body }: RecordedRequest): Called {
  return {
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    authorization: headers.authorization,
    status: outcome,
    ids: outcome === 200 ? idsOf(body) : [],
  }
}

/** None in what is no page, such as one that is cut. */
function idsOf(body: string | undefined): string[] {
  try {
    const { data } = JSON.parse(body ?? '') as { data: { id: string }[] }
    return data.map(({ id }) => id)
  } catch {
    return []
  }
}
