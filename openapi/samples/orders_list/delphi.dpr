// Lista os pedidos pagos até o fim. Delphi 10.3 ou mais novo, sem componentes.
program Pedidos;

{$APPTYPE CONSOLE}

uses
  System.SysUtils, System.Classes, System.Math, System.JSON, System.Net.HttpClient,
  System.Net.URLClient;

function Get(const Path: string): TJSONObject;
var
  Http: THTTPClient;
  Response: IHTTPResponse;
  Attempt, Status, Seconds: Integer;
begin
  Http := THTTPClient.Create;
  try
    Http.ConnectionTimeout := 10000;
    Http.ResponseTimeout := 30000;
    Http.HandleRedirects := False; // Um redirecionamento não leva a chave.
    Http.CustomHeaders['Authorization'] := 'Bearer ' + GetEnvironmentVariable('ORDERS_API_KEY');
    for Attempt := 0 to 5 do
    begin
      Response := Http.Get(GetEnvironmentVariable('ORDERS_API_URL') + Path);
      Status := Response.StatusCode;
      if Status = 200 then
        Exit(TJSONObject.ParseJSONValue(Response.ContentAsString(TEncoding.UTF8)) as TJSONObject);
      // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
      if ((Status <> 429) and (Status < 500)) or (Attempt = 5) then
        raise Exception.CreateFmt('%d %s', [Status, Response.ContentAsString(TEncoding.UTF8)]);
      Seconds := StrToIntDef(Response.HeaderValue['Retry-After'], 0);
      TThread.Sleep(1000 * Max(Seconds, 1 shl Attempt));
    end;
    Result := nil;
  finally
    Http.Free;
  end;
end;

var
  Page: TJSONObject;
  Order: TJSONValue;
  Cents: Int64;
  Cursor, Next: string;
begin
  try
    Cursor := '';
    repeat
      Page := Get('/v1/orders?status=PAID&limit=100' + Cursor);
      try
        for Order in Page.GetValue<TJSONArray>('data') do
        begin
          Cents := Order.GetValue<Int64>('amount_total');
          Writeln(Order.GetValue<string>('id'), ' ', Order.GetValue<string>('status'), ' ',
            Cents / 100 : 0 : 2);
        end;
        Cursor := '';
        if Page.GetValue<Boolean>('has_more') then
        begin
          Next := Page.GetValue<string>('next_cursor');
          Cursor := '&cursor=' + Next;
        end;
      finally
        Page.Free;
      end;
    until Cursor = '';
  except
    on E: Exception do
    begin
      Writeln(ErrOutput, E.Message);
      ExitCode := 1;
    end;
  end;
end.
