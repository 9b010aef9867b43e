import React from "react";

type Props = { name: string };

/** Greets. */
export const Hello: React.FC<Props> = ({ name }) => {
  const shout = () => name.toUpperCase();
  return (
    <div>
      {shout()}
    </div>
  );
};

export default function App() {
  return <Hello name="x" />;
}
