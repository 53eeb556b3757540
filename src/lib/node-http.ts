/**
 * The `node:http` of Node. An `import` would read all its exports, and one of them loads the whole
 * `fetch` of Node. That is a megabyte of resident memory without a use.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
