import { setTimeout as sleep } from 'node:timers/promises'
import { DEMO_ACCOUNT } from '../src/demo/accounts.ts'
import { interruptible } from './interruptible.ts'
import { CommandError, runCommand } from './webhook-demo/command.ts'
import { describeEvent } from './webhook-demo/describe-event.ts'
import { demoSteps } from './webhook-demo/order.ts'
import { type DemoReceiver, startReceiver } from './webhook-demo/receiver.ts'

// Receives, verifies and prints the webhooks of one demo order, beside a running `npm start`.

const ARRIVAL_MS = 20_000
const NO_DISPATCHER =
  'nothing delivers webhooks: start the service with "npm start" in another terminal, then repeat'
const NO_EVENT = `no webhook arrived within ${ARRIVAL_MS / 1000} seconds: check the log of the service, which must run with the same DATA_DIR`

class DemoError extends Error {}

const print = (line: string) => console.log(line)

async function runDemo(receiver: DemoReceiver, signal: AbortSignal): Promise<void> {
  const endpoint = await createEndpoint(receiver.url)
  receiver.useSecret(endpoint.secret)
  print(`created the endpoint ${endpoint.id} of ${DEMO_ACCOUNT}, which sends to ${receiver.url}`)
  try {
    print('it takes effect within 5 seconds; waiting')
    await assertDispatcher()
    await sleep(Date.parse(endpoint.starts_at) - Date.now(), undefined, { signal })
    for (const { text, source, events } of demoSteps(Date.now())) {
      await runCommand(['index', 'load', '--live', '-'], `${JSON.stringify(source)}\n`)
      print(text)
      const arrived = await receiver.next(events.length, arrivalSignal(signal)).catch((cause) => {
        signal.throwIfAborted()
        throw new DemoError(NO_EVENT, { cause })
      })
      for (const event of arrived) print(describeEvent(event))
    }
  } finally {
    await runCommand(['webhooks', 'delete', endpoint.id])
    print('deleted the endpoint')
  }
  print('Every signature was verified. Next: openapi/recipes/webhooks, and the guide at /docs.')
}

async function assertDispatcher(): Promise<void> {
  const { dispatcher } = JSON.parse(await runCommand(['webhooks', 'status', '--json']))
  if (!dispatcher?.alive) throw new DemoError(NO_DISPATCHER)
}

async function createEndpoint(url: string) {
  const args = ['create', '--account', DEMO_ACCOUNT, '--url', url, '--description', 'webhook-demo']
  const created = await runCommand(['webhooks', ...args, '--json'])
  return JSON.parse(created) as { id: string; secret: string; starts_at: string }
}

const arrivalSignal = (signal: AbortSignal) =>
  AbortSignal.any([signal, AbortSignal.timeout(ARRIVAL_MS)])

await interruptible(
  async (signal) => {
    const receiver = await startReceiver(print)
    try {
      await runDemo(receiver, signal)
    } finally {
      await receiver.close()
    }
  },
  { isExpected: (error) => error instanceof DemoError || error instanceof CommandError },
)
