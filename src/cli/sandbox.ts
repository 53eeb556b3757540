import { Argument, type Command } from 'commander'
import { wallClock } from '../lib/clock.ts'
import { CLI_ACTOR } from '../management/audit/audit-entry.ts'
import { createAuditLog } from '../management/audit/audit-log.ts'
import { createOrderSink } from '../management/ingestion/create-order-sink.ts'
import { sandboxOrderJson } from '../management/sandbox/sandbox-json.ts'
import {
  createSandboxManagement,
  type SandboxManagement,
  type WriteSourceOrders,
} from '../management/sandbox/sandbox-management.ts'
import { type SandboxMove, sandboxMoves } from '../management/sandbox/sandbox-moves.ts'
import { sandboxScenarios, scenarioJson } from '../management/sandbox/sandbox-scenarios.ts'
import type { SandboxOrder } from '../management/sandbox/sandbox-store.ts'
import { createSinkWrite } from '../management/sandbox/write-source-orders.ts'
import { openIngestionStream } from '../services.ts'
import { account, integer } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { type JsonFlag, printResult } from './output.ts'
import type { WithServices } from './with-services.ts'

interface AccountFlags extends JsonFlag {
  account: string
}

const DEFAULT_LISTED_ORDERS = 20

/** `sandbox scenarios | create | move | list`. */
export function addSandbox(
  sandbox: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  const withSandbox = <T>(work: (orders: SandboxManagement) => Promise<T>) =>
    withServices(({ openIndex, writerPollMs, managementStores }, config) => {
      const audit = createAuditLog(managementStores.audit, wallClock)
      const write: WriteSourceOrders = async (sources) => {
        const stream = await openIngestionStream(config)
        const sink = createOrderSink({ openIndex, writerPollMs, stream })
        await createSinkWrite(sink)(sources).finally(sink.close)
      }
      const options = { sandbox: managementStores.sandbox, write, audit, clock: wallClock }
      return work(createSandboxManagement(options))
    })

  sandbox
    .command('scenarios')
    .description('list the orders that a sandbox can start with')
    .option('--json', 'print them as JSON')
    .action(({ json }: JsonFlag) => {
      // In English: the description of the API is for integrators.
      const rows = sandboxScenarios.map(({ id, demo }) => ({ id, description: demo.name }))
      printResult(json, sandboxScenarios.map(scenarioJson), rows, context)
    })

  sandbox
    .command('create')
    .description("create an order in an account's sandbox, which its test keys read")
    .requiredOption('--account <id>', 'the account', account)
    .requiredOption('--scenario <id>', 'how it starts: see "sandbox scenarios"')
    .option('--json', 'print it as JSON')
    .action(({ account: accountId, scenario, json }: AccountFlags & { scenario: string }) =>
      withSandbox(async ({ create }) =>
        printOrder(await create(CLI_ACTOR, { accountId, scenario }), json, context),
      ),
    )

  sandbox
    .command('move')
    .description('change an order of a sandbox, as the platform would')
    .argument('<order_id>', 'its id, as "sandbox list" prints it')
    .addArgument(new Argument('<move>', 'what happens to it').choices(sandboxMoves))
    .requiredOption('--account <id>', 'the account', account)
    .option('--json', 'print it as JSON')
    .action((orderId: string, move: SandboxMove, { account: accountId, json }: AccountFlags) =>
      withSandbox(async (orders) =>
        printOrder(await orders.move(CLI_ACTOR, { accountId, orderId }, move), json, context),
      ),
    )

  sandbox
    .command('list')
    .description('list the orders of a sandbox, newest first')
    .requiredOption('--account <id>', 'the account', account)
    .option('--limit <n>', 'how many', integer(1), DEFAULT_LISTED_ORDERS)
    .option('--json', 'print them as JSON')
    .action(({ account: accountId, limit, json }: AccountFlags & { limit: number }) =>
      withSandbox(async ({ list }) => {
        const orders = await list({ accountId, limit, after: null })
        printResult(json, orders.map(sandboxOrderJson), orders.map(rowOf), context)
      }),
    )
}

function printOrder(order: SandboxOrder, json: true | undefined, context: CommandContext): void {
  printResult(json, sandboxOrderJson(order), [rowOf(order)], context)
}

function rowOf(order: SandboxOrder) {
  const { object: _, account_id: _account, ...row } = sandboxOrderJson(order)
  return row
}
