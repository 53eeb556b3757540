/**
 * The `node:http` of Node. An `import` would read all its exports, and one of them loads the whole
 * `fetch` of Node: a megabyte of resident memory that no process of the service needs.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
