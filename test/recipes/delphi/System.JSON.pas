unit System.JSON;

{$mode delphi}

{ Delphi's JSON classes, on FPC's fpjson. The caller frees what ParseJSONValue returns. }
interface

uses
  SysUtils, TypInfo, fpjson, jsonparser;

type
  TJSONValue = class
  private
    FData: TJSONData;
    FOwned: array of TJSONValue;
    function Wrap(Data: TJSONData): TJSONValue;
    function Find(const Name: string): TJSONData;
  public
    destructor Destroy; override;
    function GetValue<T>(const Name: string): T;
  end;

  TJSONObject = class(TJSONValue)
  private
    FIsRoot: Boolean;
  public
    destructor Destroy; override;
    class function ParseJSONValue(const Text: string): TJSONValue; static;
  end;

  TJSONArrayEnumerator = class
  private
    FItems: TJSONValue;
    FIndex: Integer;
    function GetCurrent: TJSONValue;
  public
    function MoveNext: Boolean;
    property Current: TJSONValue read GetCurrent;
  end;

  TJSONArray = class(TJSONValue)
  public
    function GetEnumerator: TJSONArrayEnumerator;
  end;

implementation

destructor TJSONValue.Destroy;
var
  Value: TJSONValue;
begin
  for Value in FOwned do
    Value.Free;
  inherited;
end;

function TJSONValue.Wrap(Data: TJSONData): TJSONValue;
begin
  case Data.JSONType of
    jtArray: Result := TJSONArray.Create;
    jtObject: Result := TJSONObject.Create;
  else
    Result := TJSONValue.Create;
  end;
  Result.FData := Data;
  SetLength(FOwned, Length(FOwned) + 1);
  FOwned[High(FOwned)] := Result;
end;

function TJSONValue.Find(const Name: string): TJSONData;
begin
  Result := (FData as fpjson.TJSONObject).Find(Name);
  if (Result = nil) or (Result.JSONType = jtNull) then
    raise Exception.Create('Value not found: ' + Name);
end;

function TJSONValue.GetValue<T>(const Name: string): T;
var
  Data: TJSONData;
begin
  Data := Find(Name);
  case GetTypeKind(T) of
    tkAString: PString(@Result)^ := Data.AsString;
    tkInt64: PInt64(@Result)^ := Data.AsInt64;
    tkBool: PBoolean(@Result)^ := Data.AsBoolean;
    tkClass: PPointer(@Result)^ := Pointer(Wrap(Data));
  else
    raise Exception.Create('The stand-in has no such type');
  end;
end;

destructor TJSONObject.Destroy;
begin
  inherited;
  if FIsRoot then
    FData.Free;
end;

class function TJSONObject.ParseJSONValue(const Text: string): TJSONValue;
var
  Parsed: TJSONObject;
begin
  Parsed := TJSONObject.Create;
  Parsed.FData := GetJSON(Text);
  Parsed.FIsRoot := True;
  Result := Parsed;
end;

function TJSONArray.GetEnumerator: TJSONArrayEnumerator;
begin
  Result := TJSONArrayEnumerator.Create;
  Result.FItems := Self;
  Result.FIndex := -1;
end;

function TJSONArrayEnumerator.MoveNext: Boolean;
begin
  Inc(FIndex);
  Result := FIndex < FItems.FData.Count;
end;

function TJSONArrayEnumerator.GetCurrent: TJSONValue;
begin
  Result := FItems.Wrap(FItems.FData.Items[FIndex]);
end;

end.
