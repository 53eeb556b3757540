import type { CheckReport } from '../../indexing/inspection/check-index.ts'
import { type Fault, faultKinds } from '../../indexing/inspection/fault.ts'
import { printJson } from '../output.ts'

export function isFaultless(report: CheckReport): boolean {
  return countFaults(report) === 0
}

/** On stdout: as JSON, or a line a fault and a summary; on stderr what mends it. Never a value of an order. */
export function printReport(
  { examples, ...counts }: CheckReport & { seconds: number },
  asJson: boolean,
): void {
  if (countFaults(counts) > 0) console.error(REPAIR)
  if (asJson) {
    const told = examples.map(({ kind, accountId, orderId, what, fields }) => {
      return { kind, account_id: accountId, order_id: orderId, what, fields }
    })
    printJson({ ...counts, examples: told })
    return
  }
  for (const fault of examples) console.log(faultLine(fault))
  const more = countFaults(counts) - examples.length
  if (more > 0) console.log(examples.length > 0 ? `and ${more} more` : `${more} faults`)
  const parts = Object.entries(counts).map(([name, count]) => {
    return `${name.replaceAll('_', ' ')}: ${count}`
  })
  console.log(parts.join(', '))
}

const REPAIR =
  '"index load --repair FILE" mends the orders that FILE has: it writes what is missing, damaged or different, and removes what is extra'

function countFaults(counts: Omit<CheckReport, 'examples'>): number {
  return faultKinds.reduce((sum, kind) => sum + counts[kind], 0)
}

function faultLine({ kind, accountId, orderId, what, fields }: Fault): string {
  const where = fields.length > 0 ? `: ${fields.join(', ')}` : ''
  return `${kind} ${shown(accountId)} ${shown(orderId)} ${what}${where}`
}

/** What was put into the index by hand may have any id. */
function shown(id: string): string {
  return /^[\w-]{1,200}$/.test(id) ? id : JSON.stringify(id)
}
