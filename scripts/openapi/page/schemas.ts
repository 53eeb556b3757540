import { placeOf, typeOf, valuesOf } from '../markdown/cells.ts'
import type { Description, Header, Parameter, Schema } from '../markdown/document.ts'
import { definitions, type Entry, renderInline, renderMarkdown } from './html.ts'
import type { Section } from './sections.ts'

/** Every named schema, with its fields in the order of the description. */
export function schemaSections({ components }: Pick<Description, 'components'>): Section {
  const children = Object.entries(components.schemas).map(([name, schema]) => ({
    id: `esquema-${name.toLowerCase()}`,
    title: name,
    content: schemaContent(schema),
    children: [],
  }))
  return { id: 'esquemas', title: 'Esquemas', content: '', children }
}

function schemaContent(schema: Schema): string {
  const entries = fieldEntries(schema, '')
  const values = schema.anyOf === undefined ? valuesOf(schema) : typeOf(schema)
  const body = entries.length > 0 ? definitions(entries) : renderMarkdown(values)
  return [renderMarkdown(schema.description ?? ''), body].filter(Boolean).join('\n')
}

/** The fields of a schema. Only an optional one has a note, because almost all are required. */
function fieldEntries(schema: Schema, prefix: string): Entry[] {
  const { properties = {}, required = [], allOf = [] } = schema
  const own = Object.entries(properties).flatMap(([key, field]) => {
    const entry = {
      name: prefix + key,
      notes: [
        renderInline(typeOf(field)),
        ...(required.includes(key) ? [] : ['nem sempre presente']),
        ...(field.deprecated ? ['descontinuado'] : []),
      ],
      text: textOf(field.description, valuesOf(field)),
    }
    return [entry, ...fieldEntries(field, `${prefix}${key}.`)]
  })
  return [...allOf.flatMap((part) => fieldEntries(part, prefix)), ...own]
}

export function parameterEntry(parameter: Parameter): Entry {
  const { name, required, description, schema, example } = parameter
  const shown = example === undefined ? '' : `Exemplo: \`${[example].flat().join(',')}\`.`
  return {
    name,
    notes: [placeOf(parameter), renderInline(typeOf(schema)), ...(required ? ['obrigatório'] : [])],
    text: textOf(description, schema.items || schema.enum ? valuesOf(schema) : '', shown),
  }
}

export function headerEntries(headers: Record<string, Header>): Entry[] {
  return Object.entries(headers).map(([name, { description, required, schema }]) => ({
    name,
    notes: [renderInline(typeOf(schema)), ...(required ? [] : ['nem sempre presente'])],
    text: textOf(description),
  }))
}

function textOf(...parts: (string | undefined)[]): string {
  return renderMarkdown(parts.filter(Boolean).join('\n\n'))
}

/** The fields of a body, or its type. */
export function schemaEntries(schema: Schema): string {
  const entries = fieldEntries(schema, '')
  return entries.length > 0
    ? definitions(entries)
    : renderMarkdown([typeOf(schema), schema.description].filter(Boolean).join('. '))
}
