import type { CheckReport } from '../../indexing/consistency-check/check-index.ts'
import {
  type Inconsistency,
  inconsistencyKinds,
} from '../../indexing/consistency-check/inconsistency.ts'
import type { ProgramIo } from '../command-context.ts'
import { printJson } from '../output.ts'
import { summaryText } from './summary.ts'

export function isConsistent(report: CheckReport): boolean {
  return countInconsistencies(report) === 0
}

/**
 * Prints the report to stdout, as JSON or one line per inconsistency with a summary. The repair
 * hint goes to stderr. Neither contains a value of an order.
 */
export function printReport(
  { examples, ...counts }: CheckReport & { seconds: number },
  asJson: boolean,
  { stdout, stderr }: Pick<ProgramIo, 'stdout' | 'stderr'>,
): void {
  if (countInconsistencies(counts) > 0) stderr.write(`${REPAIR}\n`)
  if (counts.damaged > 0) stderr.write(`${REPAIR_OF_RECORDS}\n`)
  if (counts.different > 0) stderr.write(`${REPAIR_OF_OLDER_SCHEMA}\n`)
  if (asJson) {
    const publicExamples = examples.map(({ kind, accountId, orderId, what, fields }) => {
      return { kind, account_id: accountId, order_id: orderId, what, fields }
    })
    printJson({ ...counts, examples: publicExamples }, { stdout })
    return
  }
  for (const example of examples) stdout.write(`${inconsistencyLine(example)}\n`)
  const more = countInconsistencies(counts) - examples.length
  if (more > 0)
    stdout.write(examples.length > 0 ? `and ${more} more\n` : `${more} inconsistencies\n`)
  stdout.write(`${summaryText(counts)}\n`)
}

const REPAIR =
  '"index load --repair FILE" repairs the orders in FILE: it writes missing, damaged and different documents and removes their extra ones. An extra order that FILE lacks needs its newest version or its deletion in FILE'
const REPAIR_OF_RECORDS = 'It rewrites no damaged version record, whose line names the next step'
const REPAIR_OF_OLDER_SCHEMA =
  'For documents of an older schema version, use "index load --live --reproject FILE": a repair would announce each new field by webhook'

function countInconsistencies(counts: Omit<CheckReport, 'examples'>): number {
  return inconsistencyKinds.reduce((sum, kind) => sum + counts[kind], 0)
}

function inconsistencyLine({ kind, accountId, orderId, what, fields }: Inconsistency): string {
  const where = fields.length > 0 ? `: ${fields.join(', ')}` : ''
  return `${kind} ${printableId(accountId)} ${printableId(orderId)} ${what}${where}`
}

/** A document written by hand can have any id, control characters included. */
function printableId(id: string): string {
  return /^[\w-]{1,200}$/.test(id) ? id : JSON.stringify(id)
}
