import { createRequire } from 'node:module'
import { json } from 'node:stream/consumers'
import type { N8nRun } from './n8n.ts'

// Loads the installed n8n and runs one workflow, without the parts of n8n's server: database,
// credentials and task runners.
const load = createRequire(`${process.env['N8N_MODULES']}/package.json`)
const { NodeHelpers, Workflow } = load('n8n-workflow')
const { ExecutionLifecycleHooks, WorkflowExecute } = load('n8n-core')

const { workflow: definition, start, end, token } = (await json(process.stdin)) as N8nRun

const NODES: Record<string, string> = {
  'n8n-nodes-base.scheduleTrigger': 'Schedule/ScheduleTrigger',
  'n8n-nodes-base.manualTrigger': 'ManualTrigger/ManualTrigger',
  'n8n-nodes-base.set': 'Set/Set',
  'n8n-nodes-base.httpRequest': 'HttpRequest/HttpRequest',
  'n8n-nodes-base.splitOut': 'Transform/SplitOut/SplitOut',
}
const types = Object.fromEntries(
  Object.entries(NODES).map(([name, path]) => {
    const [NodeType] = Object.values(load(`n8n-nodes-base/dist/nodes/${path}.node.js`)) as [
      new () => object,
    ]
    return [name, new NodeType()]
  }),
)
const nodeTypes = {
  getByName: (name: string) => types[name],
  getByNameAndVersion: (name: string, version?: number) =>
    NodeHelpers.getVersionedNodeType(types[name], version),
  getKnownTypes: () => ({}),
}
const { HttpBearerAuth } = load('n8n-nodes-base/dist/credentials/HttpBearerAuth.credentials.js')

/** Replaces the credential handling of the server: adds the credential to a request by its type. */
const credentialsHelper = {
  getParentTypes: () => [],
  getCredentialsProperties: () => new HttpBearerAuth().properties,
  isCredentialUsableByNode: () => true,
  getDecrypted: async () => ({ token }),
  preAuthentication: async () => undefined,
  authenticate: async (_: unknown, __: unknown, request: { headers?: object }) => ({
    ...request,
    headers: { ...request.headers, Authorization: `Bearer ${token}` },
  }),
}
const NOWHERE = 'http://localhost/'
const surroundings = {
  credentialsHelper,
  hooks: new ExecutionLifecycleHooks('manual', 'run', definition),
  executionId: 'run',
  variables: {},
  setExecutionStatus() {},
  webhookWaitingBaseUrl: NOWHERE,
  formWaitingBaseUrl: NOWHERE,
}

const { nodes, connections, settings } = definition
const workflow = new Workflow({ id: 'run', nodes, connections, settings, active: false, nodeTypes })
const { data } = await new WorkflowExecute(surroundings, 'manual').run({
  workflow,
  startNode: workflow.getNode(start),
})
const { error, runData } = data.resultData
const output: { json: unknown }[] | undefined = runData[end]?.[0]?.data?.main?.[0]
const outcome = {
  items: output?.map(({ json: item }) => item) ?? null,
  error: error ? [error.message, error.description, ...(error.messages ?? [])].join(' ') : null,
}
process.stdout.write(`\n${JSON.stringify(outcome)}\n`, () => process.exit())
