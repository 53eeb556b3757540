import { createRequire } from 'node:module'

/** The installed n8n, whose folder is in `N8N_MODULES`. */
export const load = createRequire(`${process.env['N8N_MODULES']}/package.json`)
const { NodeHelpers } = load('n8n-workflow')
const { ExecutionLifecycleHooks } = load('n8n-core')

const NODES: Record<string, string> = {
  'n8n-nodes-base.scheduleTrigger': 'Schedule/ScheduleTrigger',
  'n8n-nodes-base.manualTrigger': 'ManualTrigger/ManualTrigger',
  'n8n-nodes-base.set': 'Set/Set',
  'n8n-nodes-base.httpRequest': 'HttpRequest/HttpRequest',
  'n8n-nodes-base.splitOut': 'Transform/SplitOut/SplitOut',
  'n8n-nodes-base.webhook': 'Webhook/Webhook',
  'n8n-nodes-base.code': 'Code/Code',
  'n8n-nodes-base.respondToWebhook': 'RespondToWebhook/RespondToWebhook',
  'n8n-nodes-base.if': 'If/If',
  'n8n-nodes-base.noOp': 'NoOp/NoOp',
}
const NOWHERE = 'http://localhost/'

/** The types of the nodes of a workflow. */
export function nodeTypesOf(nodes: readonly { type: string }[]) {
  const types = Object.fromEntries(
    [...new Set(nodes.map(({ type }) => type))].map((name) => [name, newNodeType(name)]),
  )
  return {
    getByName: (name: string) => types[name],
    getByNameAndVersion: (name: string, version?: number) =>
      NodeHelpers.getVersionedNodeType(types[name], version),
    getKnownTypes: () => ({}),
  }
}

function newNodeType(name: string): object {
  const exported = load(`n8n-nodes-base/dist/nodes/${NODES[name]}.node.js`)
  const [NodeType] = Object.values(exported) as [new () => object]
  return new NodeType()
}

/** What an execution needs beside its workflow, without the parts of n8n's server. */
export function surroundings(mode: string, definition: object) {
  return {
    hooks: new ExecutionLifecycleHooks(mode, 'run', definition),
    executionId: 'run',
    variables: {},
    setExecutionStatus() {},
    webhookBaseUrl: NOWHERE,
    webhookWaitingBaseUrl: NOWHERE,
    formWaitingBaseUrl: NOWHERE,
  }
}
