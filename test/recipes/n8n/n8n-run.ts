import { json } from 'node:stream/consumers'
import type { N8nRun } from './n8n.ts'
import { load, nodeTypesOf, surroundings } from './n8n-engine.ts'

// Runs one workflow in the installed n8n, without the parts of n8n's server: database, credentials
// and task runners.
const { Workflow } = load('n8n-workflow')
const { WorkflowExecute } = load('n8n-core')

const { workflow: definition, start, end, token } = (await json(process.stdin)) as N8nRun
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

const { nodes, connections, settings } = definition
const nodeTypes = nodeTypesOf(nodes)
const workflow = new Workflow({ id: 'run', nodes, connections, settings, active: false, nodeTypes })
const additional = { ...surroundings('manual', definition), credentialsHelper }
const { data } = await new WorkflowExecute(additional, 'manual').run({
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
