/** `orders` in ASCII: marks a database as one of this command. */
export const APPLICATION_ID = 0x6f726473
export const SCHEMA_VERSION = 1

/** Virtual columns of `orders`, computed from the JSON: name → path. */
const columns = {
  status: 'status',
  role: 'role',
  currency: 'currency',
  amount_total: 'amount_total',
  amount_in_brl: 'amount_in_brl',
  created_at: 'created_at',
  paid_at: 'paid_at',
  canceled_at: 'canceled_at',
  updated_at: 'updated_at',
  customer_name: 'customer.name',
  customer_email: 'customer.email',
  customer_document: 'customer.document',
  payment_method: 'payment.method',
  payment_status: 'payment.status',
  payment_amount: 'payment.amount',
  payment_fee: 'payment.fee',
  amount_refunded: 'payment.amount_refunded',
  offer_id: 'offer.id',
  promocode: 'promocode.code',
  utm_source: 'utm.utm_source',
} as const

const itemColumns = [
  'product_id',
  'name',
  'quantity',
  'unit_price',
  'sub_total',
  'currency',
  'offer_id',
  'plan_id',
  'order_bump_id',
] as const

// No STRICT and no `->>`: programs that read the file may bundle an older SQLite.
const generated = Object.entries(columns).map(
  ([name, path]) => `${name} GENERATED ALWAYS AS (json_extract(json, '$.${path}')) VIRTUAL`,
)
const extracted = itemColumns.map((name) => `json_extract(item.value, '$.${name}') AS ${name}`)

export const SCHEMA = `
CREATE TABLE orders (
  id TEXT PRIMARY KEY NOT NULL,
  json TEXT NOT NULL,
  seen_in INTEGER NOT NULL,
  ${generated.join(',\n  ')}
);
CREATE INDEX orders_by_created_at ON orders (created_at);
CREATE VIEW items AS
  SELECT orders.id AS order_id, item.key + 1 AS number, ${extracted.join(', ')}
  FROM orders, json_each(orders.json, '$.items') AS item;
CREATE TABLE sync_state (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), json TEXT NOT NULL);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`
