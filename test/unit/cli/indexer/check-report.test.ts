import { expect, it } from 'vitest'
import { printReport } from '../../../../src/cli/indexer/check-report.ts'
import { damagedRecord } from '../../../../src/indexing/consistency-check/inconsistency.ts'

it('the report of a damaged version record says that the repair it advises does not rewrite it', () => {
  const printed = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof printed) => ({
    columns: 80,
    isTTY: false,
    write(text: string) {
      printed[name] += text
      return true
    },
  })
  const counts = { missing: 0, extra: 0, different: 0, without_key_field: 0, damaged: 1 }
  const examples = [damagedRecord({ orderId: 'ord_1', damage: 'it is damaged: the next step' })]
  printReport(
    { ...counts, read: 0, orders: 0, documents: 0, refused_lines: 0, examples, seconds: 0 },
    false,
    { stdout: stream('stdout'), stderr: stream('stderr') },
  )
  expect(printed.stdout).toMatch(/^damaged "" ord_1 it is damaged: the next step\n/)
  expect(printed.stderr).toMatch(
    /"index load --repair FILE".*\nIt rewrites no damaged version record/,
  )
})
