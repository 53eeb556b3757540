import { cell, table, typeOf, valuesOf } from './cells.ts'
import type { Description, Schema } from './document.ts'

/** Renders every named schema, with one row per field, including fields of inline objects. */
export function schemasChapter({ components }: Description): string {
  const parts = Object.entries(components.schemas).map(([name, schema]) => {
    const rows = fieldsOf(schema, '')
    const values = schema.anyOf === undefined ? valuesOf(schema) : typeOf(schema)
    const fields = rows.length > 0 ? [table(['campo', 'tipo', 'o que é'], rows)] : [values]
    return [`### Esquema ${name}`, schema.description ?? '', ...fields].filter(Boolean).join('\n\n')
  })
  return ['## Esquemas', ...parts].join('\n\n')
}

function fieldsOf({ properties = {}, required = [] }: Schema, prefix: string): string[][] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = `\`${prefix}${key}\`${required.includes(key) ? '' : ' (nem sempre presente)'}`
    const text = [schema.description ?? '', valuesOf(schema)].filter(Boolean).join('\n')
    return [[name, cell(typeOf(schema)), cell(text)], ...fieldsOf(schema, `${prefix}${key}.`)]
  })
}
