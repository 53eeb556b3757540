import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { buffer, json } from 'node:stream/consumers'
import { createContext, runInContext } from 'node:vm'
import { createMutex } from '../../../src/lib/async/mutex.ts'
import type { N8nWorkflow } from './n8n.ts'
import { load, nodeTypesOf, surroundings } from './n8n-engine.ts'

// Serves the webhook of a workflow with the nodes and the engine of the installed n8n. Stands in
// for the HTTP server and the task runner of n8n's server, and keeps the static data in memory.
const { Workflow } = load('n8n-workflow')
const { WebhookContext, WorkflowExecute } = load('n8n-core')
const WEBHOOK = 'n8n-nodes-base.webhook'

interface Input {
  workflow: N8nWorkflow
  /** The nodes whose items a GET returns. */
  ends: string[]
}
interface Item {
  json: object
}
interface Execution {
  data: {
    resultData: {
      error?: Error
      runData: Record<string, { data?: { main?: (Item[] | null)[] } }[]>
    }
  }
}
interface ExecuteFunctions {
  helpers: object
  getWorkflowDataProxy(itemIndex: number): Record<'$input' | '$vars' | '$env', object>
  getWorkflowStaticData(type: string): object
}

const { workflow: definition, ends } = (await json(process.stdin)) as Input
const { nodes, connections, settings } = definition
const nodeTypes = nodeTypesOf(nodes)
const trigger = nodes.find(({ type }) => type === WEBHOOK)
const emitted: { node: string; item: object }[] = []
let staticData: object = {}

/** Runs the code of a Code node with what n8n's task runner offers it, and nothing else. */
async function startRunnerTask(
  _additional: unknown,
  _type: string,
  { code }: { code: string },
  functions: ExecuteFunctions,
) {
  const { $input, $vars, $env } = functions.getWorkflowDataProxy(0)
  const offered = {
    ...{ $input, $vars, $env, Buffer, require: requireAllowed },
    $getWorkflowStaticData: (type: string) => functions.getWorkflowStaticData(type),
    self: { helpers: functions.helpers },
  }
  try {
    const run = `(async function () {${code}\n}).call(self)`
    const result: unknown = await runInContext(run, createContext(offered))
    return { ok: true, result: structuredClone(result) } // The runner is another process.
  } catch (error) {
    return { ok: false, error }
  }
}

/** As `NODE_FUNCTION_ALLOW_BUILTIN=crypto` permits. */
function requireAllowed(name: string): unknown {
  if (name !== 'crypto') throw new Error(`Cannot find module '${name}'`)
  return createRequire(import.meta.url)(name)
}

async function execute(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const rawBody = await buffer(request)
  const additional = {
    ...surroundings('webhook', definition),
    startRunnerTask,
    httpRequest: Object.assign(request, {
      ...{ rawBody, body: JSON.parse(rawBody.toString()), contentType: 'application/json' },
      ...{ params: {}, query: {}, ips: [], ip: '127.0.0.1' },
    }),
    httpResponse: response,
  }
  additional.hooks.addHandler('sendResponse', ({ statusCode }: { statusCode: number }) => {
    response.writeHead(statusCode).end()
  })
  const workflow = new Workflow({
    ...{ id: 'run', nodes, connections, settings, active: true, nodeTypes },
    staticData: structuredClone(staticData),
  })
  const node = workflow.getNode(trigger?.name)
  const webhookData = { webhookDescription: { name: 'default' }, isTest: false }
  const context = new WebhookContext(workflow, node, additional, 'webhook', webhookData, [], null)
  const { workflowData } = await nodeTypes
    .getByNameAndVersion(WEBHOOK, node.typeVersion)
    .webhook(context)
  const execution: Execution = await new WorkflowExecute(additional, 'webhook').run({
    workflow,
    startNode: node,
    triggerToStartFrom: { name: node.name, data: { data: { main: workflowData } } },
  })
  staticData = JSON.parse(JSON.stringify(workflow.staticData)) // As n8n stores it.
  const { error, runData } = execution.data.resultData
  if (error !== undefined) {
    console.error(error)
    if (!response.headersSent) response.writeHead(500).end()
  }
  for (const name of ends) {
    const items = runData[name]?.[0]?.data?.main?.[0] ?? []
    emitted.push(...items.map((item) => ({ node: name, item: item.json })))
  }
}

// One execution after the other, as `N8N_CONCURRENCY_PRODUCTION_LIMIT=1` makes n8n run them.
const mutex = createMutex()
// A GET waits for them: the nodes after the response run while the receiver has its 2xx already.
const server = createServer((request, response) => {
  const isDelivery = request.method === 'POST'
  mutex(async () => {
    if (isDelivery) await execute(request, response)
    else response.end(JSON.stringify(emitted))
  }).catch((error) => {
    console.error(error) // n8n would swallow the rejection.
    process.exit(1)
  })
})
server.listen(0, '127.0.0.1', () => {
  console.error(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
