curl --fail-with-body -H "Authorization: Bearer $ORDERS_API_KEY" "$ORDERS_API_URL/v1/orders/ord_1aB2cD3eF4gH5iJ6"
